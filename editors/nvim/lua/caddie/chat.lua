--- The chat: its window, its turns, and what the server says meanwhile.
local api = vim.api
local asks = require('caddie.asks')
local client = require('caddie.client')
local config = require('caddie.config')
local hints = require('caddie.hints')
local rows = require('caddie.rows')
local text = require('caddie.text')
local turn = require('caddie.turn')
local View = require('caddie.view')

local M = {}

---@type caddie.Conversation
local conversation = turn.new()
---@type caddie.View?
local view
---@type {id: integer, client: vim.lsp.Client}?
local request
local began, attachments, history = 0, {}, {}
local changed, flush_waits = {}, false
local ticker = assert(vim.uv.new_timer())

local FLUSH_MS, TICK_MS = 40, 120
local PLACEHOLDER = 'Ask, or say what to do · %s sends · g? keys'

local function now()
  return vim.uv.now()
end

---@return boolean
function M.is_visible()
  return view ~= nil and view:is_valid() and view:window() ~= nil
end

---@return caddie.View?
function M.view()
  return view
end

---@return caddie.Conversation
function M.conversation()
  return conversation
end

local function state_chunks()
  local seconds = now() - began < 1000 and '' or text.seconds(now() - began) .. ' '
  if conversation.state == 'stopping' then
    return { { ' stopping… ', 'CaddieWait' } }
  elseif asks.count() > 0 then
    return { { (' ◔ %d waiting for you '):format(asks.count()), 'CaddieWait' } }
  elseif conversation.state == 'running' then
    local frame = rows.FRAMES[math.floor(now() / TICK_MS) % #rows.FRAMES + 1]
    return { { ' ' .. frame, 'CaddieAccent' }, { ' working ' .. seconds .. '· Esc stops ', 'CaddieDim' } }
  end
  local usage = conversation.usage
  if not usage or usage.inputTokens == 0 then
    return nil
  end
  local cached = math.floor(usage.cachedTokens / usage.inputTokens * 100 + 0.5)
  local tokens = text.tokens(usage.inputTokens + usage.outputTokens)
  return { { (' %s tokens · %d %% cached '):format(tokens, cached), 'CaddieDim' } }
end

local function width_of(chunks)
  local n = 0
  for _, chunk in ipairs(chunks or {}) do
    n = n + api.nvim_strwidth(chunk[1])
  end
  return n
end

local function below_rule()
  local chips = hints.chips() or {}
  for _, attachment in ipairs(attachments) do
    table.insert(chips, { { 'with: ', 'CaddieDim' }, { text.one_line(attachment.name), 'CaddieAccent' } })
  end
  return #chips > 0 and chips or nil
end

function M.draw_rule()
  if not (view and view:is_valid()) then
    return
  end
  local right = state_chunks()
  view:draw_rule({
    left = hints.chunks(view:width() - width_of(right)),
    right = right,
    below = below_rule(),
    placeholder = PLACEHOLDER:format(config.get().keys.send:gsub('[<>]', '')),
  })
end

local function escaped(s)
  return (text.one_line(s):gsub('%%', '%%%%'))
end

local function draw_title()
  for _, win in ipairs(view and view:windows() or {}) do
    local title = conversation.title and ' · ' .. escaped(text.cap(conversation.title, 40)) or ''
    vim.wo[win][0].winbar = ' caddie' .. title .. '%=' .. escaped(conversation.mode or 'agent') .. ' '
  end
  vim.cmd.redrawstatus({ bang = true })
end

local function flush()
  flush_waits = false
  local indexes = vim.tbl_keys(changed)
  changed = {}
  if view and view:is_valid() then
    if #indexes > 0 then
      view:draw(conversation.items, indexes, now())
      view:tick(conversation.items, now())
    end
    M.draw_rule()
  end
end

---@param indexes integer[]
local function touched(indexes)
  for _, index in ipairs(indexes) do
    changed[index] = true
  end
  if not flush_waits then
    flush_waits = true
    vim.defer_fn(flush, FLUSH_MS)
  end
end

local function ticking()
  ticker:start(
    TICK_MS,
    TICK_MS,
    vim.schedule_wrap(function()
      if conversation.state == 'idle' then
        ticker:stop()
      elseif M.is_visible() then
        view:tick(conversation.items, now())
        M.draw_rule()
      end
    end)
  )
end

---@param level 'info'|'warning'|'error'
---@param message string
function M.notice(level, message)
  touched(turn.notice(conversation, level, message))
end

local function turn_is_over()
  request = nil
  asks.withdraw(function(ask)
    return ask.session_id ~= nil and ask.session_id == conversation.session_id
  end)
  hints.dismiss()
  draw_title()
end

local function failed(message)
  if conversation.state ~= 'idle' then
    touched(turn.fail(conversation, message))
    turn_is_over()
    require('caddie.review').refresh()
  end
end

local function answered(err, result)
  if err then
    return failed(err.message)
  end
  conversation.session_id, conversation.usage, conversation.mode = result.sessionId, result.usage, result.mode
  if conversation.state ~= 'idle' then
    conversation.state = 'idle'
    turn_is_over()
  end
  touched({})
end

local function sent(owner, mine)
  return function(id, lsp)
    if owner ~= conversation then -- left while the server started
      return lsp:cancel_request(id)
    end
    request = { id = id, client = lsp }
    client.when_over(id, lsp, function()
      if owner == conversation and mine == began then
        failed(nil)
      end
    end)
    if conversation.state == 'stopping' then
      lsp:cancel_request(id)
    end
  end
end

---@param message string
local function run(message)
  local picks, labels = hints.take_picks()
  local indexes = turn.start(conversation, message, labels)
  local attached = attachments
  local mine = conversation
  attachments, began = {}, now()
  conversation.title = conversation.title or text.lines(message)[1]
  touched(indexes)
  draw_title()
  ticking()
  client.request('caddie/chat/turn', {
    sessionId = conversation.session_id,
    message = message,
    attachments = attached,
    pickedTools = picks,
    mode = M.next_mode,
  }, function(err, result)
    if mine == conversation then
      answered(err, result)
    end
  end, sent(mine, began))
  M.next_mode = nil
end

function M.send()
  local message = vim.trim(table.concat(view:prompt_lines(), '\n'))
  if message == '' then
    return
  elseif conversation.state ~= 'idle' then
    return client.say('A turn is still running. Esc (normal mode) stops it; your text stays here.')
  end
  table.insert(history, message)
  view:set_prompt({ '' })
  for _, win in ipairs(view:windows()) do
    api.nvim_win_set_cursor(win, { view.prompt + 1, 0 })
  end
  run(message)
end

---@return string? the last message, to be edited and sent again
function M.last_message()
  return history[#history]
end

---@return boolean something was stopped
function M.stop()
  if conversation.state == 'idle' then
    return false
  end
  conversation.state = 'stopping'
  if request then
    request.client:cancel_request(request.id)
  end
  M.draw_rule()
  return true
end

--- What the person typed so far goes to the server as a draft.
function M.typed()
  hints.typed(table.concat(view:prompt_lines(), '\n'), conversation.session_id)
  M.draw_rule()
end

--- Unfolds what stands at the cursor, or shows all of it.
function M.unfold()
  local index, nth = view:item_at(api.nvim_win_get_cursor(0)[1] - 1)
  local item = index and conversation.items[index]
  if not item then
    return
  elseif view.drawn[index][nth] and view.drawn[index][nth].all then
    return M.show_all(rows.everything(item))
  elseif rows.can_unfold(item) then
    item.open = not item.open
    view:draw(conversation.items, { index }, now())
    view:tick(conversation.items, now())
  end
end

---@param lines string[]
function M.show_all(lines)
  vim.cmd('belowright new')
  local buf = api.nvim_get_current_buf()
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].swapfile = 'nofile', 'wipe', false
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buf, desc = 'Close' })
end

-- Lines that begin with one of these hang under their text when they wrap.
local HANGING = [[^\s*\%([-*+!·✗›▌☐◉☑]\|\d\+[.)]\)\s\+]]

local function dress(win)
  local wo = vim.wo[win][0]
  wo.number, wo.relativenumber, wo.list, wo.spell = false, false, false, false
  wo.signcolumn, wo.foldcolumn, wo.statuscolumn, wo.colorcolumn = 'no', '0', '%#Normal# ', ''
  wo.wrap, wo.linebreak, wo.breakindent, wo.cursorline = true, true, true, false
  wo.breakindentopt, wo.fillchars = 'list:-1', 'eob: '
  wo.conceallevel, wo.winfixwidth, wo.scrolloff = 2, true, 0
end

local function show_window()
  local options = config.get()
  local width = math.min(options.width, math.floor(vim.o.columns * 0.6))
  local win = api.nvim_open_win(view.buf, true, { split = options.position, win = -1, width = width })
  dress(win)
end

-- CursorMoved comes only once no key waits; who types on at once must not be refused.
function M.to_prompt()
  vim.bo[view.buf].modifiable = true
  api.nvim_win_set_cursor(0, { api.nvim_buf_line_count(view.buf), 0 })
  vim.cmd('startinsert!')
end

---@param opts? {attach?: table}
function M.open(opts)
  if not (view and view:is_valid()) then
    view = View.new()
    vim.bo[view.buf].formatlistpat = HANGING
    require('caddie.keys').attach(view.buf)
    touched(vim.fn.range(1, #conversation.items))
  end
  vim.list_extend(attachments, opts and opts.attach and { opts.attach } or {})
  if view:window() then
    api.nvim_set_current_win(view:window())
  else
    show_window()
  end
  draw_title()
  M.asks_changed()
  M.to_prompt()
  client.ensure(function(_, problem)
    if problem then
      M.notice('error', problem)
    end
  end)
end

--- A text for the input, to be changed or sent, and what goes with it.
---@param message string
---@param attached table[]
function M.put(message, attached)
  M.open()
  vim.list_extend(attachments, attached)
  view:set_prompt(text.lines(message))
  M.to_prompt()
  M.draw_rule()
end

---@param new caddie.Conversation
local function replace(new)
  M.stop()
  request, new.before = nil, conversation.turn_id or conversation.before
  conversation, changed, history = new, {}, {}
  if view and view:is_valid() then
    view:clear()
  end
  M.open()
  touched(vim.fn.range(1, #conversation.items))
end

function M.new()
  replace(turn.new())
end

---@param opened table of `caddie/session/open`
function M.resume(opened)
  replace(turn.from_transcript(opened))
end

--- The waiting question is drawn, or taken away; the person is told once if the chat is not in sight.
---@param added? caddie.Ask
function M.asks_changed(added)
  local ask = asks.current()
  if ask then
    ask.inserting = M.is_visible() and api.nvim_get_current_buf() == view.buf and vim.fn.mode() == 'i'
  end
  if view and view:is_valid() then
    view:draw_block(ask and ask:rows(view:width()) or {})
    require('caddie.keys').ask(view.buf, ask)
    M.draw_rule()
  end
  if ask and M.is_visible() then
    ask.shown_at = ask.shown_at or now()
  elseif added then
    client.say('Caddie waits for you: ' .. added.title .. ' (:Caddie chat)')
  end
  vim.cmd.redrawstatus({ bang = true })
end

local function on_event(params)
  local event = params.event
  touched(turn.apply(conversation, params, now()))
  if event.kind == 'toolCall' and event.status ~= 'running' then
    require('caddie.disk').follow()
  end
  if event.kind == 'toolCall' and event.status == 'cancelled' then
    asks.withdraw(function(ask)
      return ask.session_id == params.sessionId and ask.tool == event.tool
    end)
  elseif event.kind == 'done' and params.turnId == conversation.turn_id then
    turn_is_over()
  end
end

---@return string for a statusline; empty while there is nothing to say
function M.status()
  if asks.count() > 0 then
    return ('caddie: %d waiting'):format(asks.count())
  end
  return conversation.state ~= 'idle' and 'caddie: ' .. conversation.state or ''
end

function M.listen()
  asks.on_change(M.asks_changed)
  hints.on_change(M.draw_rule)
  client.on('caddie/chat/event', on_event)
  client.on('caddie/hints/show', hints.show)
  client.on('caddie/permission/ask', require('caddie.permission').ask)
  client.on('caddie/question/ask', function(params)
    return require('caddie.question').ask(params, M.is_visible() or params.sessionId ~= nil)
  end)
  client.on('$/cancelRequest', function(params)
    asks.cancel(params.id)
  end)
  client.on('exit', function(params)
    asks.withdraw(function()
      return true
    end)
    local running = conversation.state ~= 'idle'
    failed(params.message)
    if not params.expected and not (running and M.is_visible()) then
      client.say(params.message, 'WARN')
    end
  end)
end

M.listen()

return M
