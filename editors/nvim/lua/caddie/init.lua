--- Caddie's Neovim client. Works without setup(); setup() only overrides defaults.
local M = {}

---@param opts? caddie.Config
function M.setup(opts)
  require('caddie.config').set(opts)
end

--- For a statusline: what waits for the person, or that a turn runs.
---@return string
function M.status()
  if not package.loaded['caddie.chat'] then
    return ''
  end
  return require('caddie.chat').status()
end

return M
