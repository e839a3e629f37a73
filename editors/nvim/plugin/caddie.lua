if vim.g.loaded_caddie then
  return
end
vim.g.loaded_caddie = true

vim.api.nvim_create_user_command('Caddie', function(args)
  require('caddie.commands').run(args)
end, {
  nargs = '*',
  range = true,
  desc = 'Caddie: chat, tools, stop, …',
  complete = function(lead, line)
    return require('caddie.commands').complete(lead, line)
  end,
})

for name, command in pairs({ Chat = 'chat', Tools = 'tools', Stop = 'stop', New = 'new', Sessions = 'sessions' }) do
  vim.keymap.set(
    'n',
    '<Plug>(Caddie' .. name .. ')',
    '<Cmd>Caddie ' .. command .. '<CR>',
    { desc = 'Caddie: ' .. command }
  )
end
vim.keymap.set(
  'x',
  '<Plug>(CaddieChat)',
  ":'<,'>Caddie chat<CR>",
  { desc = 'Caddie: chat about the selection', silent = true }
)
