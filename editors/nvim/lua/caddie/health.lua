--- :checkhealth caddie
local M = {}

local PROVIDER_KEYS = { 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'XAI_API_KEY', 'DEEPSEEK_API_KEY' }

local function check_editor(health)
  if vim.fn.has('nvim-0.11') == 1 then
    health.ok('Neovim ' .. tostring(vim.version()))
  else
    health.error('Neovim 0.11 or newer is needed.')
  end
end

---@return string[]?
local function check_command(health)
  local cmd = require('caddie.config').get().cmd or vim.lsp.config.caddie.cmd
  local exe = type(cmd) == 'table' and cmd[1] or ''
  if vim.fn.executable(exe) == 0 then
    health.error(('The server %q was not found.'):format(exe), {
      'Install it: pipx install caddie-ls',
      'or name it: vim.g.caddie = { cmd = { "/path/to/caddie", "serve" } }',
    })
    return nil
  end
  health.ok('Server command: ' .. table.concat(cmd, ' '))
  return cmd
end

local function check_answer(health)
  local client = require('caddie.client')
  local answer
  client.ensure(function(running, problem)
    answer = { client = running, problem = problem }
  end)
  vim.wait(15000, function()
    return answer ~= nil
  end, 20)
  if not answer then
    return health.error('The server did not answer within 15 s.', { ':Caddie log says why' })
  elseif answer.problem then
    return health.error(answer.problem)
  end
  local info = answer.client.server_info or {}
  health.ok(('The server answers: %s %s'):format(info.name or 'caddie', info.version or '(no version)'))
end

local function check_keys(health)
  local set = vim.tbl_filter(function(name)
    return (vim.env[name] or '') ~= ''
  end, PROVIDER_KEYS)
  if #set == 0 then
    return health.warn('No provider key is set: a local model or the offline provider is used.', {
      'Set one of: ' .. table.concat(PROVIDER_KEYS, ', '),
    })
  end
  health.ok('Provider keys set (names only): ' .. table.concat(set, ', '))
end

function M.check()
  local health = vim.health
  health.start('caddie')
  check_editor(health)
  if check_command(health) then
    check_answer(health)
  end
  check_keys(health)
end

return M
