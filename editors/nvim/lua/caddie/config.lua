--- What may be set in the client. The server's own settings go through `settings` untouched.
local M = {}

---@class caddie.Keys
---@field send string insert mode: send the message
---@field cycle string insert mode: next hint
---@field newline string insert mode: a line break where `send` is <CR>

---@class caddie.Config
---@field cmd? string[] the server; default `{ 'caddie', 'serve' }`
---@field settings table the `caddie` settings tree, as in the server's documentation
---@field width integer columns of the chat window
---@field position 'right'|'left' where the chat opens
---@field hints boolean ask for hints while typing
---@field hint_delay integer ms after the last key
---@field guard integer ms during which a new question takes no keys, so that one typed by chance answers nothing
---@field keys caddie.Keys

---@type caddie.Config
local defaults = {
  cmd = nil,
  settings = {},
  width = 72,
  position = 'right',
  hints = true,
  hint_delay = 200,
  guard = 350,
  keys = { send = '<C-s>', cycle = '<Tab>', newline = '<C-j>' },
}

---@type table?
local given

local function check(opts)
  vim.validate('caddie.cmd', opts.cmd, 'table', true)
  vim.validate('caddie.settings', opts.settings, 'table')
  vim.validate('caddie.width', opts.width, 'number')
  vim.validate('caddie.position', opts.position, function(v)
    return v == 'right' or v == 'left'
  end, "'right' or 'left'")
  vim.validate('caddie.hints', opts.hints, 'boolean')
  vim.validate('caddie.hint_delay', opts.hint_delay, 'number')
  vim.validate('caddie.guard', opts.guard, 'number')
  vim.validate('caddie.keys', opts.keys, 'table')
end

---@param opts? table overrides the defaults and vim.g.caddie
function M.set(opts)
  local merged = vim.tbl_deep_extend('force', defaults, vim.g.caddie or {}, opts or {})
  check(merged)
  given = opts or {}
end

---@return caddie.Config
function M.get()
  local merged = vim.tbl_deep_extend('force', defaults, vim.g.caddie or {}, given or {})
  local ok, problem = pcall(check, merged)
  if not ok then
    vim.notify_once('Caddie uses its defaults: ' .. tostring(problem), vim.log.levels.WARN)
    return vim.deepcopy(defaults)
  end
  return merged
end

return M
