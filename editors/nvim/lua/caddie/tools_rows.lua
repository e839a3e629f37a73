--- What the tools panel shows, given the catalogue. Pure.
local row = require('caddie.rows').row
local text = require('caddie.text')

local M = {}

local STATES =
  { enabled = { '✓', 'CaddieOn' }, deferred = { '◐', 'CaddieWait' }, disabled = { '✗', 'CaddieBad' } }
local TROUBLE = { failed = 'CaddieBad', needsAuth = 'CaddieWait' }

---@class caddie.ToolsPanel
---@field list table of `caddie/tools/list`
---@field filter string
---@field folded table<string, boolean>

---@param tool table
---@param filter string
local function fits(tool, filter)
  local haystack = (tool.name .. ' ' .. tool.label .. ' ' .. tool.description):lower()
  for word in filter:lower():gmatch('%S+') do
    if not haystack:find(word, 1, true) then
      return false
    end
  end
  return true
end

---@return {name: string, server?: table, tools: table[]}[]
local function groups_of(panel)
  local builtin, by_name, groups = { name = 'Built-in', tools = {} }, {}, {}
  for _, server in ipairs(panel.list.servers) do
    by_name[server.name] = { name = server.name, server = server, tools = {} }
    table.insert(groups, by_name[server.name])
  end
  for _, tool in ipairs(panel.list.tools) do
    local group = tool.server and by_name[tool.server] or builtin
    if fits(tool, panel.filter) then
      table.insert(group.tools, tool)
    end
  end
  table.sort(groups, function(a, b)
    return a.name < b.name
  end)
  table.insert(groups, 1, builtin)
  return groups
end

local function prompt_tokens(tools)
  local now, possible = 0, 0
  for _, tool in ipairs(tools) do
    possible = possible + tool.tokens
    now = now + (tool.state == 'enabled' and tool.tokens or 0)
  end
  return now == possible and text.tokens(now) or text.tokens(now) .. ' / ' .. text.tokens(possible)
end

local STATUS = { needsAuth = 'needs a sign-in', stopped = 'not started' }

local function status(group)
  local server = group.server
  if not server then
    return '', nil
  end
  local words = STATUS[server.status] or server.status
  local reason = server.reason and server.reason ~= '' and ': ' .. text.one_line(server.reason)
  return words .. (reason or (' · %d tools'):format(server.tools)), TROUBLE[server.status]
end

local function group_row(group, folded)
  local words, trouble = status(group)
  local out = row(
    { folded and '▸ ' or '▾ ', 'CaddieDim' },
    { text.one_line(group.name), 'CaddieUser' },
    { words ~= '' and '  ' .. words or '', trouble or 'CaddieDim' }
  )
  out.right = #group.tools > 0 and prompt_tokens(group.tools) or nil
  out.target = { group = group }
  return out
end

local function source(tool)
  local from = tool.stateSource
  if from.kind ~= 'setting' then
    return ''
  end
  local pattern = from.pattern and from.pattern ~= tool.name and text.one_line(from.pattern) .. ' · ' or ''
  return pattern .. text.one_line(from.scope or '')
end

local function tool_row(tool, group, pad, width)
  local state = STATES[tool.state]
  local label = text.cap(text.one_line(tool.label), pad)
  local tokens = tool.state == 'enabled' and text.tokens(tool.tokens) or '0 / ' .. text.tokens(tool.tokens)
  local right = vim.trim(source(tool) .. '   ' .. tokens)
  local room = width - pad - vim.api.nvim_strwidth(right) - 9
  local out = row(
    { '  ' .. state[1] .. ' ', state[2] },
    { label .. (' '):rep(pad - vim.api.nvim_strwidth(label)), tool.state == 'disabled' and 'CaddieDim' or nil },
    { room > 10 and '  ' .. text.cap(text.one_line(tool.description), room) or '', 'CaddieDim' }
  )
  out.right, out.target = right, { tool = tool, group = group }
  return out
end

local function head(panel)
  local totals = panel.list.totals
  local counts = ('%d ✓  %d ◐  %d ✗'):format(totals.enabled, totals.deferred, totals.disabled)
  local filter = panel.filter ~= '' and '/' .. text.one_line(panel.filter) or '/ filters'
  local out = row({ filter, panel.filter ~= '' and 'CaddieAccent' or 'CaddieDim' }, { '   ' .. counts })
  out.right = text.tokens(totals.tokensInPrompt) .. ' of ' .. text.tokens(totals.tokensTotal) .. ' tokens'
  return out
end

---@param panel caddie.ToolsPanel
---@param width integer
---@return caddie.Row[] rows; `target` says what stands on them
function M.of(panel, width)
  local rows, pad = { head(panel), { '' } }, 8
  for _, tool in ipairs(panel.list.tools) do
    pad = math.min(math.max(pad, vim.api.nvim_strwidth(text.one_line(tool.label))), 26)
  end
  for _, group in ipairs(groups_of(panel)) do
    local hidden = panel.filter ~= '' and #group.tools == 0
    if not hidden then
      table.insert(rows, group_row(group, panel.folded[group.name]))
    end
    for _, tool in ipairs(panel.folded[group.name] and {} or group.tools) do
      table.insert(rows, tool_row(tool, group, pad, width))
    end
  end
  if #rows == 2 then
    table.insert(rows, row({ 'No tool fits. / changes the filter, <BS> empties it.', 'CaddieDim' }))
  end
  return rows
end

---@param explained table of `caddie/tools/explain`
---@return string[]
function M.explanation(explained)
  local out = { text.one_line(explained.tool), '' }
  for _, sentence in ipairs(explained.sentences) do
    table.insert(out, text.one_line(sentence))
  end
  if #explained.suggestions > 0 then
    table.insert(out, 'Nearest names: ' .. text.one_line(table.concat(explained.suggestions, ', ')))
  end
  return out
end

return M
