--- Keys and events of the chat buffer.
local api = vim.api
local asks = require('caddie.asks')
local chat = require('caddie.chat')
local config = require('caddie.config')
local hints = require('caddie.hints')

local M = {}

local INSERTING = { 'i', 'I', 'a', 'A', 'o', 'O' }
---@type string[] keys that answer what waits
local answering = {}

local function in_prompt()
  return api.nvim_win_get_cursor(0)[1] > chat.view().prompt
end

local function at_start()
  local cursor = api.nvim_win_get_cursor(0)
  return cursor[1] == chat.view().prompt + 1 and cursor[2] == 0
end

-- Before whatever else was typed meanwhile.
local function typed(keys)
  api.nvim_feedkeys(vim.keycode(keys), 'ni', false)
end

-- In the transcript, keys that insert go to the prompt; there they are what they always were.
local function insert_or_go(key)
  return function()
    if in_prompt() then
      vim.bo.modifiable = true
      return typed(key)
    end
    chat.to_prompt()
  end
end

local function map(buf, mode, lhs, fn, desc)
  vim.keymap.set(mode, lhs, fn, { buffer = buf, desc = desc, nowait = true })
end

local function inserting(buf)
  for _, key in ipairs(INSERTING) do
    map(buf, 'n', key, insert_or_go(key), 'Write to Caddie')
  end
end

local function enter()
  local sends = vim.keycode(config.get().keys.send) == vim.keycode('<CR>')
  if hints.is_selected() then
    hints.pick()
  elseif sends and vim.fn.pumvisible() == 0 then
    chat.send()
  else
    typed('<CR>')
  end
end

local function cycle(key)
  return function()
    if hints.any() and vim.fn.pumvisible() == 0 then
      hints.cycle()
    else
      typed(key)
    end
  end
end

local function escape()
  if not hints.is_selected() then
    typed('<Esc>')
  end
  hints.dismiss()
end

local function backwards(key)
  return function()
    if at_start() then
      hints.unpick()
    else
      typed(key)
    end
  end
end

local function up()
  local lines = chat.view():prompt_lines()
  local last = chat.last_message()
  if not (#lines == 1 and lines[1] == '' and last) then
    return typed('<Up>')
  end
  chat.view():set_prompt(vim.split(last, '\n'))
  local row = api.nvim_buf_line_count(0)
  api.nvim_win_set_cursor(0, { row, #vim.fn.getline(row) })
end

local function while_inserting(buf, keys)
  map(buf, 'i', '<CR>', enter, 'Take the selected hint, or a new line')
  map(buf, 'i', keys.cycle, cycle(keys.cycle), 'Next hint')
  map(buf, 'i', '<Esc>', escape, 'Dismiss hints')
  map(buf, 'i', '<Up>', up, 'Edit the last message')
  for _, key in ipairs({ '<BS>', '<C-h>', '<C-w>', '<C-u>' }) do
    map(buf, 'i', key, backwards(key), 'Delete, or take back a pick')
  end
  if vim.keycode(keys.send) == vim.keycode('<CR>') then
    map(buf, 'i', keys.newline, function()
      typed('<CR>')
    end, 'New line')
  else
    map(buf, 'i', keys.send, chat.send, 'Send')
  end
end

local left_insert = 0

-- Esc is often struck twice to leave insert mode; the second one is no wish to stop.
local function escape_normal()
  if vim.uv.now() - left_insert >= config.get().guard and not chat.stop() then
    hints.dismiss()
  end
end

local function stop_or_dismiss()
  if not chat.stop() then
    hints.dismiss()
  end
end

-- The page is there even where nobody made its tags.
local function help()
  if not pcall(vim.cmd.help, 'caddie-chat') then
    vim.cmd.split(vim.fn.fnameescape(api.nvim_get_runtime_file('doc/caddie.txt', false)[1]))
    vim.bo.filetype, vim.bo.modifiable = 'help', false
  end
end

local function in_normal_mode(buf, keys)
  map(buf, 'n', '<CR>', function()
    if in_prompt() then
      chat.send()
    else
      chat.unfold()
    end
  end, 'Send, or unfold what is at the cursor')
  map(buf, 'n', keys.send, chat.send, 'Send')
  map(buf, 'n', '<Esc>', escape_normal, 'Stop the turn')
  map(buf, 'n', '<C-c>', stop_or_dismiss, 'Stop the turn')
  map(buf, 'n', 'g?', help, 'Help')
  inserting(buf)
end

local function watch(buf)
  local group = api.nvim_create_augroup('caddie.chat', { clear = true })
  local function on(events, fn)
    api.nvim_create_autocmd(events, { group = group, buffer = buf, callback = fn })
  end
  on({ 'CursorMoved', 'CursorMovedI', 'BufEnter', 'InsertEnter' }, function()
    vim.bo[buf].modifiable = in_prompt()
  end)
  on({ 'TextChangedI', 'TextChanged', 'TextChangedP' }, function()
    if in_prompt() then
      chat.typed()
    end
  end)
  on('BufReadCmd', function()
    chat.view():reload()
  end)
  on('InsertLeave', function()
    left_insert = vim.uv.now()
  end)
  on({ 'InsertEnter', 'InsertLeave' }, function()
    if asks.current() then
      vim.schedule(chat.asks_changed)
    end
  end)
  api.nvim_create_autocmd({ 'WinResized', 'ColorScheme' }, {
    group = group,
    callback = function(event)
      if event.event == 'ColorScheme' then
        chat.view().define_highlights()
      end
      chat.draw_rule()
    end,
  })
end

---@param buf integer
function M.attach(buf)
  local keys = config.get().keys
  answering = {}
  in_normal_mode(buf, keys)
  while_inserting(buf, keys)
  watch(buf)
end

-- A key typed before the question was in sight was meant for something else.
local function answer(ask, key)
  return function()
    local seen = ask.shown_at and vim.uv.now() - ask.shown_at >= config.get().guard
    local act = ask:keys()[key]
    if seen and act and not ask.busy and asks.current() == ask then
      act()
    end
  end
end

--- Gives the waiting question its keys, and takes the last one's away.
---@param buf integer
---@param ask? caddie.Ask
function M.ask(buf, ask)
  for _, key in ipairs(answering) do
    pcall(vim.keymap.del, 'n', key, { buffer = buf })
  end
  inserting(buf)
  answering = ask and vim.tbl_keys(ask:keys()) or {}
  for _, key in ipairs(answering) do
    map(buf, 'n', key, answer(ask, key), 'Answer: ' .. key)
  end
end

return M
