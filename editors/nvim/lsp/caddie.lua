-- A vim.lsp.Config. `:Caddie` starts it by itself; override with vim.lsp.config('caddie', { ... }).
---@type vim.lsp.Config
return {
  cmd = require('caddie.config').get().cmd or { 'caddie', 'serve' },
  root_markers = { '.git', '.mcp.json', '.vscode' },
  capabilities = {
    experimental = {
      caddie = { permission = true, question = true, settingsWrite = false, editorQuery = true, diff = true },
    },
  },
  settings = {},
  before_init = function(params, config)
    require('caddie.client').before_init(params, config)
  end,
  on_init = function(client)
    require('caddie.client').on_init(client)
  end,
  handlers = require('caddie.client').handlers,
}
