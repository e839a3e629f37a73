--- Which tools fit what is being typed, which one is selected, and which ones were picked. Quiet: one line at the rule.
local client = require('caddie.client')
local config = require('caddie.config')
local text = require('caddie.text')

local M = {}

---@type {list: table[], selected: integer, picks: table[], draft: integer, enabled?: boolean}
local state = { list = {}, selected = 0, picks = {}, draft = 0 }
local timer = assert(vim.uv.new_timer())
local on_change = function() end

---@param fn fun()
function M.on_change(fn)
  on_change = fn
end

---@return boolean
function M.enabled()
  if state.enabled == nil then
    return config.get().hints
  end
  return state.enabled
end

---@param on boolean
function M.enable(on)
  timer:stop()
  state.enabled = on
  M.dismiss()
end

--- The draft changed: the server is told once the person pauses.
---@param words string
---@param session_id? string
function M.typed(words, session_id)
  timer:stop()
  if not M.enabled() or words:match('^%s*$') then
    state.draft = state.draft + 1
    return M.dismiss()
  end
  timer:start(
    config.get().hint_delay,
    0,
    vim.schedule_wrap(function()
      state.draft = state.draft + 1
      client.notify('caddie/chat/draft', { draftId = tostring(state.draft), text = words, sessionId = session_id })
    end)
  )
end

---@param params table of `caddie/hints/show`
function M.show(params)
  local late = params.draftId and params.draftId ~= tostring(state.draft)
  if late or not M.enabled() then
    return
  end
  local selected = state.list[state.selected]
  state.list, state.selected = params.hints, 0
  for i, hint in ipairs(state.list) do
    if selected and hint.tool == selected.tool then
      state.selected = i
    end
  end
  on_change()
end

---@return boolean
function M.any()
  return #state.list > 0
end

---@return boolean
function M.is_selected()
  return state.selected > 0
end

function M.cycle()
  state.selected = state.selected % #state.list + 1
  on_change()
end

function M.dismiss()
  state.list, state.selected = {}, 0
  on_change()
end

function M.pick()
  local hint = state.list[state.selected]
  local known = vim.iter(state.picks):any(function(pick)
    return pick.tool == hint.tool
  end)
  if not known then
    table.insert(state.picks, hint)
  end
  M.dismiss()
end

--- Takes back the last pick.
---@return boolean
function M.unpick()
  local had = table.remove(state.picks) ~= nil
  on_change()
  return had
end

---@return string[] wire names for the next turn
---@return string[] labels
function M.take_picks()
  timer:stop()
  state.draft = state.draft + 1
  local picks = state.picks
  state.picks = {}
  M.dismiss()
  local function field(name)
    return vim.tbl_map(function(pick)
      return pick[name]
    end, picks)
  end
  return field('tool'), field('label')
end

---@param width integer
---@return table? chunks for the left of the rule
function M.chunks(width)
  local at = math.max(state.selected, 1)
  local hint = state.list[at]
  if not hint then
    return nil
  end
  local name = text.cap(text.one_line(hint.label), 30)
  local score = ('%.2f %s'):format(hint.score, text.one_line(hint.server or ''))
  local place = #state.list > 1 and ('%d/%d '):format(at, #state.list) or ''
  local keys = M.is_selected() and '⏎ takes it · Esc' or 'Tab ⇥  ⏎'
  local room = width - vim.api.nvim_strwidth(name .. score .. place .. keys) - 13
  local description = room > 8 and text.cap(text.one_line(hint.description), room) .. '  ' or ''
  local group = M.is_selected() and 'CaddieHintPicked' or 'CaddieHint'
  return {
    { ' ⌁ ', 'CaddieAccent' },
    { name, M.is_selected() and group or nil },
    { '  ' .. description, 'CaddieHint' },
    { vim.trim(score) .. '  ', 'CaddieHint' },
    { place, 'CaddieHint' },
    { keys .. ' ', 'CaddieHint' },
  }
end

---@return table[]? virtual lines below the rule: what goes with the next message
function M.chips()
  if #state.picks == 0 then
    return nil
  end
  local labels = vim.tbl_map(function(pick)
    return text.one_line(pick.label)
  end, state.picks)
  return { { { 'with: ', 'CaddieDim' }, { table.concat(labels, ', '), 'CaddieAccent' } } }
end

return M
