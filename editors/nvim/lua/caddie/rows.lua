--- What does one thing of a conversation look like? Pure: an item becomes rows of text with highlights.
local text = require('caddie.text')
local turn = require('caddie.turn')

local M = {}

---@class caddie.Row
---@field [1] string the text of the line
---@field hl? {[1]: integer, [2]: integer, [3]: string}[] byte columns and group
---@field right? string shown at the right edge
---@field spin? boolean its first character turns
---@field markdown? boolean
---@field all? boolean Enter on it shows everything

local RESULT_LINES = 12
M.FRAMES = { '⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏' }

--- A row from pieces `{text, group}`.
---@param ... {[1]: string, [2]: string?}
---@return caddie.Row
function M.row(...)
  local out, hl, col = {}, {}, 0
  for _, piece in ipairs({ ... }) do
    table.insert(out, piece[1])
    if piece[2] and piece[1] ~= '' then
      table.insert(hl, { col, col + #piece[1], piece[2] })
    end
    col = col + #piece[1]
  end
  return { table.concat(out), hl = hl }
end

local GLYPHS = {
  pending = { '·', 'CaddieDim' },
  awaitingPermission = { '◔', 'CaddieWait' },
  running = { '⠹', 'CaddieAccent' },
  done = { '✓', 'CaddieDone' },
  failed = { '✗', 'CaddieBad' },
  refused = { '⊘', 'CaddieDim' },
  cancelled = { '⊘', 'CaddieDim' },
}
local WORDS = { awaitingPermission = 'waits for you', refused = 'refused', cancelled = 'stopped', failed = 'failed' }

local function why_failed(call)
  local first = text.one_line(text.lines(call.result)[1] or '')
  return first ~= '' and ('failed: ' .. text.cap(first, 80)) or 'failed'
end

local function search_detail(call)
  local query = text.one_line((call.params or {}).query or '')
  return { text.cap(query, 50) }
end

local function detail_of(call)
  if call.tool == 'ToolSearch' then
    return search_detail(call)
  elseif call.status == 'awaitingPermission' then
    return { call.server and text.one_line(call.server) }
  end
  local parts = { text.one_line(call.server or '') }
  local progress = call.status == 'running' and text.lines(call.progress) or {}
  local newest = text.one_line(progress[#progress] or '')
  table.insert(parts, newest ~= '' and text.cap(newest, 60) or text.summary(call.params))
  return vim.tbl_filter(function(part)
    return part ~= ''
  end, parts)
end

--- Time since the call began, from the server's count and the time since its last word.
---@param item caddie.Item
---@param now number
---@return string
function M.right(item, now)
  local call = item.call
  local ms = (call.elapsedMs or 0) + (call.status == 'running' and now - (item.at or now) or 0)
  return text.elapsed(ms)
end

local function framed(source, group, cap)
  local all = text.lines(source)
  local rows = {}
  for i = 1, math.min(#all, cap) do
    table.insert(rows, M.row({ '  │ ', 'CaddieDim' }, { all[i], group }))
  end
  if #all > cap then
    local more = M.row({ ('  │ … %d more lines, ⏎ here shows all'):format(#all - cap), 'CaddieDim' })
    more.all = true
    table.insert(rows, more)
  end
  return rows
end

local function unfolded(call)
  local rows = {}
  for _, key in ipairs(text.keys(call.params or {})) do
    vim.list_extend(
      rows,
      framed(text.one_line(key) .. ' = ' .. text.value(call.params[key]), 'CaddieDim', RESULT_LINES)
    )
  end
  if call.result and call.result ~= '' then
    table.insert(rows, M.row({ '  ├ ' .. (call.isError and 'error' or 'result'), 'CaddieDim' }))
    vim.list_extend(rows, framed(call.result, nil, RESULT_LINES))
  end
  return rows
end

local draw = {}

function draw.user(item)
  local rows = {}
  for i, line in ipairs(text.lines(item.text)) do
    table.insert(rows, M.row({ i == 1 and '› ' or '  ', 'CaddieAccent' }, { line, 'CaddieUser' }))
  end
  if item.picks and #item.picks > 0 then
    table.insert(rows, M.row({ '  with ' .. text.one_line(table.concat(item.picks, ', ')), 'CaddieDim' }))
  end
  return rows
end

function draw.text(item)
  local body = item.text:gsub('%s+$', '')
  return vim.tbl_map(function(line)
    return { line, markdown = true }
  end, text.lines((body:gsub('^\n+', ''))))
end

function draw.thinking(item, _, width)
  local all = text.lines((item.text:gsub('%s+$', '')))
  local rows = { M.row({ '⋯ thought  ' .. text.cap(text.one_line(all[#all]), width - 12), 'CaddieDim' }) }
  return item.open and vim.list_extend(rows, framed(item.text, 'CaddieDim', RESULT_LINES * 3)) or rows
end

function draw.call(item, now, width)
  local call = item.call
  local glyph = GLYPHS[call.status] or GLYPHS.pending
  local label = call.tool == 'ToolSearch' and 'looked for tools' or text.one_line(call.label)
  local word = call.status == 'failed' and why_failed(call) or WORDS[call.status]
  local detail = table.concat(detail_of(call), ' · ')
  local right = M.right(item, now)
  local room = width - vim.api.nvim_strwidth(glyph[1] .. ' ' .. label .. '    ' .. right) - (word and 2 or 0)
  local word_room = word and math.min(vim.api.nvim_strwidth(word), math.max(room, 10)) or 0
  detail = text.cap(detail, math.max(room - word_room, 0))
  local row = M.row(
    { glyph[1], glyph[2] },
    { ' ' .. label, call.status == 'running' and 'CaddieTool' or 'CaddieDone' },
    { detail ~= '' and '  ' .. detail or '', 'CaddieDim' },
    { word and '  ' .. text.cap(word, word_room) or '', glyph[2] }
  )
  row.right, row.spin = right, call.status == 'running'
  return item.open and vim.list_extend({ row }, unfolded(call)) or { row }
end

local BOXES = { pending = '☐', in_progress = '◉', completed = '☑' }

function draw.todo(item)
  return vim.tbl_map(function(todo)
    local now = todo.status == 'in_progress'
    local words = now and todo.activeForm or todo.content
    return M.row({ (BOXES[todo.status] or '☐') .. ' ' .. text.one_line(words), not now and 'CaddieDim' or nil })
  end, item.todo)
end

local LEVELS = { info = { '· ', 'CaddieDim' }, warning = { '! ', 'CaddieWait' }, error = { '✗ ', 'CaddieBad' } }

function draw.notice(item)
  local mark = LEVELS[item.level] or LEVELS.info
  local rows = {}
  for i, line in ipairs(text.lines(item.text)) do
    local group = item.level == 'info' and 'CaddieDim' or nil
    table.insert(rows, M.row({ i == 1 and mark[1] or '  ', mark[2] }, { line, group }))
  end
  return rows
end

---@param item caddie.Item
---@param now? number ms
---@param width? integer cells that a line may take
---@return caddie.Row[]
function M.of(item, now, width)
  if item.void then
    return {}
  end
  local rows = draw[item.kind](item, now or 0, width or 72)
  if item.lead then
    table.insert(rows, 1, { '' })
  end
  return rows
end

--- Everything that was folded or capped, for a buffer of its own.
---@param item caddie.Item
---@return string[]
function M.everything(item)
  if item.kind ~= 'call' then
    return text.lines(item.text)
  end
  local out = { text.one_line(item.call.label), '' }
  for _, key in ipairs(text.keys(item.call.params or {})) do
    vim.list_extend(out, text.lines(text.one_line(key) .. ' = ' .. text.value(item.call.params[key])))
  end
  table.insert(out, '')
  return vim.list_extend(out, text.lines(item.call.result))
end

---@param item caddie.Item
---@return boolean
function M.can_unfold(item)
  return item.kind == 'call' or item.kind == 'thinking'
end

---@param item caddie.Item
---@return boolean its clock turns
function M.is_ticking(item)
  return item.kind == 'call' and item.call.status == 'running' and turn.is_open(item.call)
end

return M
