--- Starting the server, asking it, and handing on what it sends. One server for each Neovim.
local config = require('caddie.config')

local M = {}

---@type table<string, fun(params: table, client_id: integer): any>
local listeners = {}
---@type fun(client?: vim.lsp.Client, problem?: string)[]
local waiting = {}
---@type integer?
local starting

--- Named once, so that lsp/caddie.lua and :checkhealth need not know who listens.
local METHODS = {
  'caddie/chat/event',
  'caddie/hints/show',
  'caddie/tools/changed',
  'caddie/mcp/status',
  'caddie/permission/ask',
  'caddie/question/ask',
  'caddie/editor/query',
  'caddie/settings/write',
  '$/cancelRequest',
}
local UNSUPPORTED = { code = vim.lsp.protocol.ErrorCodes.MethodNotFound, message = 'Neovim does not offer this.' }

M.handlers = {}
for _, method in ipairs(METHODS) do
  M.handlers[method] = function(_, params, ctx)
    require('caddie.chat')
    require('caddie.problems')
    local listen = listeners[method]
    if listen then
      return listen(params, ctx.client_id)
    end
    return nil, UNSUPPORTED
  end
end

---@param method string
---@param listen fun(params: table, client_id: integer): any for a request: its result; may yield
function M.on(method, listen)
  listeners[method] = listen
end

---@return vim.lsp.Client?
function M.get()
  for _, client in ipairs(vim.lsp.get_clients({ name = 'caddie' })) do
    if not client:is_stopped() then
      return client
    end
  end
end

--- Change a setting for as long as the server runs.
---@param key string
---@param value any
function M.set(key, value)
  M.ensure(function(client, problem)
    if not client then
      return M.say(problem, 'ERROR')
    end
    client.settings = vim.tbl_deep_extend('force', client.settings or {}, { caddie = { [key] = value } })
    client:notify('workspace/didChangeConfiguration', { settings = client.settings })
  end)
end

-- Lua's empty table would be sent as a list.
local function object(value)
  return vim.tbl_isempty(value) and vim.empty_dict() or value
end

function M.before_init(params, lsp_config)
  local settings = object(config.get().settings)
  params.initializationOptions = vim.tbl_extend('keep', { settings = settings }, params.initializationOptions or {})
  if lsp_config.settings then
    lsp_config.settings.caddie = lsp_config.settings.caddie or settings
  end
end

--- The server sees unsaved text only of buffers it is attached to.
local function attach_files(client)
  local function attach(buf)
    if vim.bo[buf].buftype == '' and vim.api.nvim_buf_get_name(buf) ~= '' then
      vim.lsp.buf_attach_client(buf, client.id)
    end
  end
  vim.tbl_map(attach, vim.tbl_filter(vim.api.nvim_buf_is_loaded, vim.api.nvim_list_bufs()))
  local group = vim.api.nvim_create_augroup('caddie.attach', { clear = true })
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufFilePost' }, {
    group = group,
    callback = function(event)
      return client:is_stopped() or attach(event.buf)
    end,
  })
end

local function tell_waiting(client, problem)
  local all = waiting
  waiting, starting = {}, nil
  for _, callback in ipairs(all) do
    callback(client, problem)
  end
end

function M.on_init(client)
  attach_files(client)
  require('caddie.problems').watch()
  tell_waiting(client)
end

local function on_exit(code, signal, client_id)
  vim.schedule(function()
    local why = ("Caddie's server stopped (code %d, signal %d). :Caddie restart starts it again, :Caddie log says why."):format(
      code,
      signal
    )
    if starting == client_id then
      tell_waiting(nil, why)
    end
    if listeners.exit then
      listeners.exit({ message = why, expected = M.stopping == client_id }, client_id)
    end
  end)
end

local function on_error(code)
  local client = M.get()
  if starting and not (client and client.initialized) then
    local problem = "Caddie's server did not start (%s). :Caddie log says why."
    tell_waiting(nil, problem:format(vim.lsp.client_errors[code] or code))
  end
end

local function missing(cmd)
  return ('Caddie\'s server %q was not found. Install it with “pipx install caddie-ls”, or name it: vim.g.caddie = { cmd = { "/path/to/caddie", "serve" } }.'):format(
    cmd
  )
end

local function lsp_config()
  local base = vim.deepcopy(vim.lsp.config.caddie)
  base.name = 'caddie'
  base.cmd = config.get().cmd or base.cmd
  base.root_dir = base.root_dir or vim.fs.root(vim.fn.getcwd(), base.root_markers or { '.git' }) or vim.fn.getcwd()
  base.on_exit, base.on_error = on_exit, on_error
  return base
end

---@param callback fun(client?: vim.lsp.Client, problem?: string)
function M.ensure(callback)
  local client = M.get()
  if client and client.initialized then
    return callback(client)
  end
  table.insert(waiting, callback)
  if client or starting then
    return
  end
  local base = lsp_config()
  local exe = type(base.cmd) == 'table' and base.cmd[1]
  if exe and vim.fn.executable(exe) == 0 then
    return tell_waiting(nil, missing(exe))
  end
  starting = vim.lsp.start(base, { attach = false })
  if not starting then
    tell_waiting(nil, "Caddie's server did not start. :Caddie log says why.")
  end
end

---@param method string
---@param params? table
---@param callback fun(problem?: {code: integer, message: string, data?: table}, result?: table)
---@param on_sent? fun(id: integer, client: vim.lsp.Client)
function M.request(method, params, callback, on_sent)
  M.ensure(function(client, problem)
    if not client then
      return callback({ code = 0, message = problem })
    end
    local sent, id = client:request(method, object(params or {}), function(err, result)
      callback(err, result)
    end)
    if not sent then
      return callback({ code = 0, message = "Caddie's server no longer answers. :Caddie restart starts it again." })
    end
    if on_sent then
      on_sent(id, client)
    end
  end)
end

--- For what the person began: a problem is said to them.
---@param method string
---@param params table?
---@param on_result fun(result: table)
function M.ask(method, params, on_result)
  M.request(method, params, function(problem, result)
    if problem then
      return M.say(problem.message, 'ERROR')
    end
    on_result(result)
  end)
end

--- Says something to the server if it runs; never starts it.
---@param method string
---@param params table
function M.notify(method, params)
  local client = M.get()
  if client and client.initialized then
    client:notify(method, object(params))
  end
end

--- Neovim drops the answer to a request that was cancelled, so the end of a request is told apart.
---@param id integer
---@param client vim.lsp.Client
---@param callback fun()
function M.when_over(id, client, callback)
  vim.api.nvim_create_autocmd('LspRequest', {
    callback = function(event)
      if
        event.data.client_id == client.id
        and event.data.request_id == id
        and event.data.request.type == 'complete'
      then
        vim.schedule(callback)
        return true
      end
    end,
  })
end

function M.restart()
  local client = M.get()
  if not client then
    return M.ensure(function(_, problem)
      M.say(problem or 'Caddie is ready.', problem and 'ERROR' or nil)
    end)
  end
  M.stopping = client.id
  client:stop()
  local tries = 0
  local function again()
    tries = tries + 1
    if not client:is_stopped() and tries < 50 then
      return vim.defer_fn(again, 100)
    end
    M.ensure(function(_, problem)
      M.say(problem or 'Caddie was restarted.', problem and 'ERROR' or nil)
    end)
  end
  again()
end

---@param message string
---@param level? 'ERROR'|'WARN'|'INFO'
function M.say(message, level)
  vim.notify(require('caddie.text').clean(message), vim.log.levels[level or 'INFO'], { title = 'Caddie' })
end

return M
