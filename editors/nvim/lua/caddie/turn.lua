--- Which things does a conversation consist of, given the events of its turns? Pure: no buffer, no clock.
--- `rows.lua` says what each thing looks like, `view.lua` puts it into a buffer.
local M = {}

---@class caddie.Item
---@field kind 'user'|'text'|'thinking'|'call'|'todo'|'notice'
---@field lead boolean a blank line stands before it
---@field text? string
---@field picks? string[]
---@field call? table newest event of the call
---@field at? number when that event came, in ms
---@field level? string
---@field todo? table[]
---@field open? boolean unfolded by the person
---@field void? boolean taken back

---@class caddie.Conversation
---@field items caddie.Item[]
---@field calls table<string, integer> call id of the running turn -> index
---@field state 'idle'|'running'|'stopping'
---@field session_id? string
---@field turn_id? string
---@field before? string the turn before, or the one of the conversation before: its late events are not ours
---@field seq integer
---@field usage? table
---@field mode? string

-- These stand close together, everything else is set apart by a blank line.
local TIGHT = { call = true, thinking = true, notice = true }

---@return caddie.Conversation
function M.new()
  return { items = {}, calls = {}, state = 'idle', seq = 0 }
end

local function last_visible(c)
  for i = #c.items, 1, -1 do
    if not c.items[i].void then
      return c.items[i], i
    end
  end
end

---@param c caddie.Conversation
---@param item table
---@return integer index
local function add(c, item)
  local before = last_visible(c)
  item.lead = before ~= nil and not (TIGHT[before.kind] and TIGHT[item.kind])
  table.insert(c.items, item)
  return #c.items
end

---@param c caddie.Conversation
---@param text string
---@param picks? string[]
---@return integer[] indexes of the items that changed
function M.start(c, text, picks)
  c.state, c.before, c.turn_id, c.seq, c.calls = 'running', c.turn_id or c.before, nil, 0, {}
  return { add(c, { kind = 'user', text = text, picks = picks }) }
end

local function grow(kind)
  return function(c, event)
    local item, index = last_visible(c)
    if not (item and item.kind == kind and c.turn_id == item.turn_id) then
      index = add(c, { kind = kind, text = '', turn_id = c.turn_id })
    end
    c.items[index].text = c.items[index].text .. event.text
    return { index }
  end
end

local function discard_text(c)
  local changed = {}
  for i = #c.items, 1, -1 do
    local item = c.items[i]
    if item.kind == 'call' or item.kind == 'user' then
      break
    elseif item.kind == 'text' and not item.void then
      item.void = true
      table.insert(changed, i)
    end
  end
  return changed
end

local ENDS = {
  cancelled = { 'info', 'stopped' },
  error = { 'error', 'The turn ended with an error. Send the message again, or see :Caddie log.' },
  maxTokens = { 'warning', "The answer reached the model's limit. Send “go on” to continue." },
  refusal = { 'warning', 'The model declined to answer. Say it differently, or choose another model.' },
  emptyAnswer = { 'warning', 'The model answered with nothing. Send the message again.' },
  turnLimit = { 'warning', 'The turn reached its limit of steps. Send “go on” to continue.' },
}

local function settle_calls(c, changed)
  for _, index in pairs(c.calls) do
    local call = c.items[index].call
    if M.is_open(call) then
      c.items[index].call = vim.tbl_extend('force', call, { status = 'cancelled' })
      table.insert(changed, index)
    end
  end
end

--- Since the last tool call.
local function said(c, fits)
  for i = #c.items, 1, -1 do
    local item = c.items[i]
    if item.kind == 'call' or item.kind == 'user' then
      return false
    elseif fits(item) and not item.void then
      return true
    end
  end
  return false
end

local function is_answer(item)
  return item.kind == 'text'
end

local function is_error(item)
  return item.level == 'error'
end

local apply = {
  text = grow('text'),
  thinking = grow('thinking'),
  usage = function(c, event)
    c.usage = event.usage
    return {}
  end,
  toolCall = function(c, event, now)
    local index = c.calls[event.callId]
    if not index then
      index = add(c, { kind = 'call' })
      c.calls[event.callId] = index
    end
    c.items[index].call, c.items[index].at = event, now
    return { index }
  end,
  todo = function(c, event)
    local index = c.todo
    if not index then
      index = add(c, { kind = 'todo' })
      c.todo = index
    end
    c.items[index].todo = event.items
    return { index }
  end,
  notice = function(c, event)
    c.mode = event.mode or c.mode
    local changed = event.discardText and discard_text(c) or {}
    table.insert(changed, add(c, { kind = 'notice', level = event.level, text = event.message }))
    return changed
  end,
  done = function(c, event)
    local changed = {}
    settle_calls(c, changed)
    local way_out = ENDS[event.stopReason]
    if event.text ~= '' and event.stopReason == 'endTurn' and not said(c, is_answer) then
      table.insert(changed, add(c, { kind = 'text', text = event.text, turn_id = c.turn_id }))
    end
    if way_out and not (event.stopReason == 'error' and said(c, is_error)) then
      table.insert(changed, add(c, { kind = 'notice', level = way_out[1], text = way_out[2] }))
    end
    c.state, c.todo = 'idle', nil
    return changed
  end,
}

---@param c caddie.Conversation
---@param params table of `caddie/chat/event`
---@param now? number ms
---@return integer[] indexes of the items that changed
function M.apply(c, params, now)
  local ours = c.turn_id == params.turnId or (c.turn_id == nil and c.state ~= 'idle' and c.before ~= params.turnId)
  if not ours or params.seq <= c.seq or not apply[params.event.kind] then
    return {}
  end
  if c.session_id and params.sessionId ~= c.session_id then
    return {}
  end
  c.turn_id, c.session_id, c.seq = params.turnId, params.sessionId, params.seq
  return apply[params.event.kind](c, params.event, now or 0)
end

--- The turn is over and no `done` said so: the server went away, or the request failed.
---@param c caddie.Conversation
---@param message? string
---@return integer[]
function M.fail(c, message)
  if c.state == 'idle' then
    return {}
  end
  local changed = {}
  settle_calls(c, changed)
  c.state, c.todo = 'idle', nil
  local level = message and 'error' or 'info'
  table.insert(changed, add(c, { kind = 'notice', level = level, text = message or 'stopped' }))
  return changed
end

---@param c caddie.Conversation
---@param level 'info'|'warning'|'error'
---@param message string
---@return integer[]
function M.notice(c, level, message)
  return { add(c, { kind = 'notice', level = level, text = message }) }
end

---@param call table
---@return boolean it still runs or waits
function M.is_open(call)
  return call.status == 'pending' or call.status == 'running' or call.status == 'awaitingPermission'
end

--- A stored conversation.
---@param opened table of `caddie/session/open`
---@return caddie.Conversation
function M.from_transcript(opened)
  local c = M.new()
  c.session_id, c.title, c.mode = opened.session.sessionId, opened.session.title, opened.session.mode
  for _, message in ipairs(opened.notices or {}) do
    add(c, { kind = 'notice', level = 'warning', text = message })
  end
  for _, stored in ipairs(opened.transcript) do
    local kind = ({ assistant = 'text', toolCall = 'call' })[stored.kind] or stored.kind
    local level = kind == 'notice' and 'info' or nil
    if stored.call or stored.text then
      add(c, { kind = kind, text = stored.text, call = stored.call, level = level, turn_id = stored.turnId })
    end
  end
  if #(opened.todo or {}) > 0 then
    add(c, { kind = 'todo', todo = opened.todo })
  end
  if opened.interrupted then
    add(c, { kind = 'notice', level = 'info', text = 'The last turn was interrupted. Say “go on” to continue.' })
  end
  return c
end

return M
