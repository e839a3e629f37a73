--- May this tool run? A block in the chat: the real tool, all its arguments, the diff or the command, one key each.
local asks = require('caddie.asks')
local row = require('caddie.rows').row
local text = require('caddie.text')

local M = {}

local KEYS = { allowOnce = 'a', allowSession = 's', allowAlways = 'w', allowServerSession = 'S', reject = 'r' }
local WORDS = {
  allowOnce = 'allow once',
  allowSession = 'this session',
  allowAlways = 'always',
  allowServerSession = 'its whole server, this session',
  reject = 'reject…',
}
local PREVIEW_LINES = 20
local BAR = { '▌ ', 'CaddieWait' }

local function line(...)
  return row(BAR, ...)
end

local function title_row(params)
  local name = text.one_line(params.label)
  local server = params.server and ' · ' .. text.one_line(params.server) or ''
  local wire = text.one_line(params.tool)
  local title = line({ name .. server, 'CaddieUser' }, { '  asks to run', 'CaddieDim' })
  return wire ~= name and line({ name .. server, 'CaddieUser' }, { '  asks to run  ' .. wire, 'CaddieDim' }) or title
end

local function capped(lines, cap, draw)
  local rows = {}
  for i = 1, math.min(#lines, cap) do
    table.insert(rows, draw(lines[i]))
  end
  if #lines > cap then
    table.insert(rows, line({ ('… %d more lines, v shows all'):format(#lines - cap), 'CaddieDim' }))
  end
  return rows
end

local function argument_rows(key, value, pad, ask, width)
  local lines = text.lines(text.value(value))
  local room = math.max(width - pad - 8, 20)
  local label = text.cap(text.one_line(key), pad)
  local head = { label .. (' '):rep(pad - vim.api.nvim_strwidth(label)) .. '  ', 'CaddieDim' }
  if ask.all then
    local rows = { line(head, { lines[1] }) }
    for i = 2, #lines do
      table.insert(rows, line({ (' '):rep(pad + 2) .. lines[i] }))
    end
    return rows
  end
  if #lines == 1 and vim.api.nvim_strwidth(lines[1]) <= 2 * room then
    return { line(head, { lines[1] }) }
  end
  local more = #lines > 1 and ('  (+%d lines, v shows all)'):format(#lines - 1) or '  (v shows all)'
  return { line(head, { text.cap(lines[1], math.max(room - #more, 10)) }, { more, 'CaddieDim' }) }
end

local function arguments(params, ask, width)
  local keys = vim.tbl_filter(function(key)
    local preview = params.preview
    return not (preview and preview.kind == 'command' and params.params[key] == preview.command)
  end, text.keys(params.params))
  local pad, rows = 4, {}
  for _, key in ipairs(keys) do
    pad = math.min(math.max(pad, vim.api.nvim_strwidth(text.one_line(key))), 20)
  end
  for _, key in ipairs(keys) do
    vim.list_extend(rows, argument_rows(key, params.params[key], pad, ask, width))
  end
  return rows
end

local SIGNS = { ['+'] = 'CaddieAdd', ['-'] = 'CaddieRemove', ['@'] = 'CaddieDim' }

local preview = {}

function preview.diff(p, cap, params)
  local lines = vim.tbl_filter(function(l)
    return not (l:match('^%-%-%- ') or l:match('^%+%+%+ '))
  end, text.lines((p.unified:gsub('\n$', ''))))
  local is_told = vim.list_contains(vim.tbl_values(params), p.path)
  local rows = is_told and {} or { line({ text.path(p.path), 'CaddieDim' }) }
  return vim.list_extend(
    rows,
    capped(lines, cap, function(l)
      return line({ l, SIGNS[l:sub(1, 1)] })
    end)
  )
end

function preview.command(p, cap)
  local rows = capped(text.lines(p.command), cap, function(l)
    return line({ '$ ', 'CaddieDim' }, { l })
  end)
  table.insert(rows, line({ 'in ' .. text.one_line(vim.fn.fnamemodify(p.cwd, ':~')), 'CaddieDim' }))
  if p.note then
    table.insert(rows, line({ text.one_line(p.note), 'CaddieDim' }))
  end
  return rows
end

function preview.text(p, cap)
  return capped(text.lines(p.text), cap, function(l)
    return line({ l })
  end)
end

local function key_row(ask)
  local pieces = { { ask.inserting and 'Esc, then  ' or '', 'CaddieDim' } }
  for _, choice in ipairs(ask.params.choices) do
    local key = KEYS[choice.kind]
    if key then
      table.insert(pieces, { key, 'CaddieKey' })
      table.insert(pieces, { ' ' .. WORDS[choice.kind] .. '   ' })
    end
  end
  return line(unpack(pieces))
end

local function rows(ask, width)
  local params = ask.params
  local out = { { '' }, title_row(params) }
  if params.definitionChanged then
    local lines = text.lines(params.definitionChanged)
    table.insert(out, line({ 'changed since you allowed it: ' .. lines[1], 'CaddieWait' }))
    local cap = ask.all and math.huge or PREVIEW_LINES
    vim.list_extend(
      out,
      capped(vim.list_slice(lines, 2), cap, function(l)
        return line({ l, SIGNS[l:sub(1, 1)] or 'CaddieDim' })
      end)
    )
  end
  vim.list_extend(out, arguments(params, ask, width))
  local p = params.preview
  if p and preview[p.kind] then
    table.insert(out, line())
    vim.list_extend(out, preview[p.kind](p, ask.all and math.huge or PREVIEW_LINES, params.params))
    table.insert(out, line())
  end
  if text.one_line(params.reason) ~= '' then
    table.insert(out, line({ text.cap(text.one_line(params.reason), math.max(width - 4, 40)), 'CaddieDim' }))
  end
  table.insert(out, key_row(ask))
  if asks.next() then
    local waiting = ('%d more after this: %s'):format(asks.count() - 1, asks.next().title)
    table.insert(out, line({ waiting, 'CaddieDim' }))
  end
  return out
end

local function reject(ask, choice)
  ask.busy = true
  vim.ui.input({ prompt = 'Why not? (Enter rejects, Esc goes back) ' }, function(feedback)
    ask.busy = false
    if feedback then
      asks.answer(ask, { choice = choice.id, feedback = feedback ~= '' and feedback or nil })
    end
  end)
end

local function keys(ask)
  local map = {}
  for _, choice in ipairs(ask.params.choices) do
    local key = KEYS[choice.kind]
    if key and choice.kind == 'reject' then
      map[key] = function()
        reject(ask, choice)
      end
    elseif key then
      map[key] = function()
        asks.answer(ask, { choice = choice.id })
      end
    end
  end
  map.v = function()
    ask.all = not ask.all
    asks.refresh()
  end
  return map
end

---@param params table of `caddie/permission/ask`
---@return table answer
function M.ask(params)
  local server = params.server and ' · ' .. text.one_line(params.server) or ''
  return asks.wait({
    id = params.requestId,
    session_id = params.sessionId,
    title = text.one_line(params.label) .. server,
    tool = params.tool,
    params = params,
    rows = rows,
    keys = keys,
    withdrawn = { choice = 'withdrawn' },
  })
end

return M
