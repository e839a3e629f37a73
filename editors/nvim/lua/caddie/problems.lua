--- What other language servers and linters complain about, for the server that asks after an edit.
local client = require('caddie.client')

local M = {}

local STEP_MS = 20
local QUERIES = { 'diagnostics' }
local SEVERITIES = { 'error', 'warning', 'information', 'hint' }

--- The changedtick of each buffer when its diagnostics were last published.
---@type table<integer, integer>
local looked_at = {}

function M.watch()
  vim.api.nvim_create_autocmd('DiagnosticChanged', {
    group = vim.api.nvim_create_augroup('caddie.problems', { clear = true }),
    callback = function(event)
      looked_at[event.buf] = vim.api.nvim_buf_get_changedtick(event.buf)
    end,
  })
end

local function is_watched(buf)
  return vim.iter(vim.lsp.get_clients({ bufnr = buf })):any(function(one)
    return one.name ~= 'caddie'
  end)
end

--- Waits until somebody has looked at the buffer as it is now, but no longer than `ms`. Runs in a coroutine.
local function settle(buf, ms)
  local thread = assert(coroutine.running())
  local deadline = vim.uv.now() + ms
  while vim.api.nvim_buf_is_valid(buf) and looked_at[buf] ~= vim.api.nvim_buf_get_changedtick(buf) do
    if vim.uv.now() > deadline or not is_watched(buf) then
      return
    end
    vim.defer_fn(function()
      coroutine.resume(thread)
    end, STEP_MS)
    coroutine.yield()
  end
end

local function loaded(path)
  local wanted = vim.fs.normalize(vim.uv.fs_realpath(path) or path)
  return vim.iter(vim.api.nvim_list_bufs()):find(function(buf)
    local name = vim.api.nvim_buf_get_name(buf)
    return vim.api.nvim_buf_is_loaded(buf) and name ~= '' and vim.fs.normalize(vim.uv.fs_realpath(name) or name) == wanted
  end)
end

local function place(d)
  return {
    path = vim.api.nvim_buf_get_name(d.bufnr),
    line = d.lnum + 1,
    column = d.col + 1,
    endLine = (d.end_lnum or d.lnum) + 1,
    endColumn = (d.end_col or d.col) + 1,
  }
end

local function problem(d)
  return {
    place = place(d),
    severity = SEVERITIES[d.severity],
    message = d.message,
    source = d.source,
    code = d.code and tostring(d.code),
  }
end

---@param params caddie.EditorQuery
function M.answer(params)
  if not vim.list_contains(QUERIES, params.kind) then
    return nil, { code = vim.lsp.protocol.ErrorCodes.MethodNotFound, message = 'Neovim answers diagnostics only.' }
  end
  local buf = params.path and loaded(params.path)
  if params.settleMs and buf then
    settle(buf, params.settleMs)
  end
  local found = {}
  if buf or params.settleMs or not params.path then
    local only = not params.settleMs and buf or nil
    found = vim.diagnostic.get(only, { severity = { min = vim.diagnostic.severity.WARN } })
  end
  local limit = params.limit or 200
  local shown = vim.list_slice(found, 1, limit)
  return { diagnostics = vim.tbl_map(problem, shown), isCut = #found > limit }
end

client.on('caddie/editor/query', M.answer)

return M
