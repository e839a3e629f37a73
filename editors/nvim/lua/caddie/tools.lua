--- The tools panel: every tool, its state, who decided it and what it costs; one key changes it.
local api = vim.api
local chat = require('caddie.chat')
local client = require('caddie.client')
local rows_of = require('caddie.tools_rows')
local text = require('caddie.text')
local View = require('caddie.view')

local M = {}

local SPACE = api.nvim_create_namespace('caddie.tools')
local KEYS = ' ⏎ ✓→✗→◐  a on  d off  r reset  ? why  / filter  R restart  Tab scope  q close'
local EVERYTHING_OF = 'mcp__%s__*'

---@type integer?
local buf
---@type caddie.ToolsPanel
local panel = { list = nil, filter = '', folded = {} }
---@type caddie.Row[]
local shown = {}
local scope = 'workspace'
local refresh_waits = false

local function session_id()
  return chat.conversation().session_id
end

local function is_open()
  return buf ~= nil and api.nvim_buf_is_valid(buf)
end

local function window()
  local win = is_open() and vim.fn.bufwinid(buf) or -1
  return win ~= -1 and win or nil
end

local function target()
  local row = shown[api.nvim_win_get_cursor(0)[1]]
  return row and row.target or {}
end

local function identity(at)
  return at and ((at.tool and 'tool ' .. at.tool.name) or (at.group and 'group ' .. at.group.name))
end

local function write(rows)
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(
    buf,
    0,
    -1,
    false,
    vim.tbl_map(function(row)
      return row[1]
    end, rows)
  )
  vim.bo[buf].modifiable = false
  for at, row in ipairs(rows) do
    for _, hl in ipairs(row.hl or {}) do
      api.nvim_buf_set_extmark(buf, SPACE, at - 1, hl[1], { end_col = hl[2], hl_group = hl[3], strict = false })
    end
    if row.right then
      local chunk = { { row.right .. ' ', 'CaddieDim' } }
      api.nvim_buf_set_extmark(buf, SPACE, at - 1, 0, { virt_text = chunk, virt_text_pos = 'eol_right_align' })
    end
  end
end

local function draw()
  local win = window()
  if not (win and panel.list) then
    return
  end
  local line = api.nvim_win_get_cursor(win)[1]
  local before = identity(shown[line] and shown[line].target)
  shown = rows_of.of(panel, api.nvim_win_get_width(win))
  write(shown)
  for at, row in ipairs(shown) do
    if before and identity(row.target) == before then
      line = at
    end
  end
  api.nvim_win_set_cursor(win, { math.min(line, #shown), 0 })
  vim.wo[win][0].winbar = ' caddie · tools%=scope: ' .. scope .. ' (Tab) '
end

local function failed(problem)
  if problem then
    client.say(problem.message, 'ERROR')
  end
  return problem ~= nil
end

local function refresh()
  client.request('caddie/tools/list', { sessionId = session_id() }, function(problem, result)
    if is_open() and not failed(problem) then
      panel.list = result
      draw()
    end
  end)
end

-- A server that connects says so many times in a row.
local function refresh_soon()
  if is_open() and not refresh_waits then
    refresh_waits = true
    vim.defer_fn(function()
      refresh_waits = false
      refresh()
    end, 100)
  end
end

local function after_change(problem, result)
  if failed(problem) then
    return
  end
  for _, warning in ipairs(result.warnings) do
    client.say(warning, 'WARN')
  end
  refresh()
end

local function cycle()
  local at = target()
  if at.tool then
    local params = { tool = at.tool.name, scope = scope, sessionId = session_id() }
    client.request('caddie/tools/cycleState', params, after_change)
  elseif at.group then
    panel.folded[at.group.name] = not panel.folded[at.group.name]
    draw()
  end
end

local function names(at)
  if at.tool then
    return { at.tool.name }
  elseif at.group.server and panel.filter == '' then
    return { EVERYTHING_OF:format(at.group.name) }
  end
  return vim.tbl_map(function(tool)
    return tool.name
  end, at.group.tools)
end

local function set(state)
  return function()
    local at = target()
    if not at.group then
      return
    end
    local changes = vim.tbl_map(function(name)
      return { tool = name, state = state }
    end, names(at))
    local params = { changes = changes, scope = scope, sessionId = session_id() }
    client.request('caddie/tools/setState', params, after_change)
  end
end

local function float(lines)
  local width = math.min(72, vim.o.columns - 6)
  local height = 0
  for _, line in ipairs(lines) do
    height = height + math.max(1, math.ceil(api.nvim_strwidth(line) / width))
  end
  local float_buf = api.nvim_create_buf(false, true)
  vim.bo[float_buf].bufhidden = 'wipe'
  api.nvim_buf_set_lines(float_buf, 0, -1, false, lines)
  vim.bo[float_buf].modifiable = false
  local place = { relative = 'cursor', row = 1, col = 2, width = width, height = height }
  local win =
    api.nvim_open_win(float_buf, true, vim.tbl_extend('error', place, { style = 'minimal', border = 'rounded' }))
  vim.wo[win].wrap, vim.wo[win].linebreak = true, true
  for _, key in ipairs({ 'q', '<Esc>', '?', '<CR>' }) do
    vim.keymap.set('n', key, '<Cmd>close<CR>', { buffer = float_buf, nowait = true })
  end
end

local function explain()
  local at = target()
  if at.tool then
    client.request('caddie/tools/explain', { tool = at.tool.name, sessionId = session_id() }, function(problem, result)
      if not failed(problem) then
        float(rows_of.explanation(result))
      end
    end)
  elseif at.group and at.group.server then
    local server = at.group.server
    float({
      text.one_line(server.name),
      '',
      text.one_line(server.reason or server.status),
      text.one_line(server.origin or ''),
    })
  end
end

local function restart_server()
  local at = target()
  if at.group and at.group.server then
    client.request('caddie/mcp/restart', { server = at.group.name }, function(problem)
      failed(problem)
      refresh()
    end)
  end
end

local function next_scope()
  local following = { workspace = 'user', user = session_id() and 'session' }
  scope = following[scope] or 'workspace'
  draw()
end

local function filter()
  vim.ui.input({ prompt = 'Filter: ', default = panel.filter }, function(words)
    panel.filter = words or panel.filter
    draw()
  end)
end

local function unfilter()
  panel.filter = ''
  draw()
end

local function map_keys()
  local keys = {
    ['<CR>'] = { cycle, 'Next state, or fold' },
    ['<Space>'] = { cycle, 'Next state, or fold' },
    ['<Tab>'] = { next_scope, 'Where changes are stored' },
    ['?'] = { explain, 'Why is it so?' },
    ['/'] = { filter, 'Filter' },
    ['<BS>'] = { unfilter, 'Empty the filter' },
    a = { set('enabled'), 'Enable' },
    d = { set('disabled'), 'Disable' },
    r = { set('default'), 'Reset to the default' },
    R = { restart_server, 'Restart the server' },
    l = { '<Cmd>Caddie log<CR>', 'Log' },
    q = { '<Cmd>close<CR>', 'Close' },
  }
  for lhs, key in pairs(keys) do
    vim.keymap.set('n', lhs, key[1], { buffer = buf, nowait = true, desc = key[2] })
  end
end

local function make_buffer()
  View.define_highlights()
  buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden, vim.bo[buf].swapfile, vim.bo[buf].modifiable = 'wipe', false, false
  vim.bo[buf].filetype = 'caddie-tools'
  map_keys()
  api.nvim_create_autocmd('WinResized', { buffer = buf, callback = draw })
  shown = {}
end

function M.open()
  if window() then
    return api.nvim_set_current_win(window())
  end
  if not is_open() then -- one in another tab page shows the same
    make_buffer()
  end
  local win = api.nvim_open_win(buf, true, { split = 'below', win = 0, height = math.floor(vim.o.lines * 0.6) })
  local wo = vim.wo[win][0]
  wo.number, wo.relativenumber, wo.wrap, wo.cursorline, wo.list = false, false, false, true, false
  wo.signcolumn, wo.foldcolumn, wo.statuscolumn = 'no', '0', ''
  wo.winbar, wo.statusline = ' caddie · tools', KEYS
  refresh()
end

client.on('caddie/tools/changed', refresh_soon)
client.on('caddie/mcp/status', refresh_soon)

return M
