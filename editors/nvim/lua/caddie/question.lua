--- A question or a form for the person: a block in the chat, or `vim.ui.select` when no chat is open.
local asks = require('caddie.asks')
local row = require('caddie.rows').row
local text = require('caddie.text')

local M = {}

local BAR = { '▌ ', 'CaddieWait' }
local DECLINED = { declined = true }

local function line(...)
  return row(BAR, ...)
end

local function question_of(ask)
  return ask.params.questions[ask.at]
end

local function option_row(ask, question, i, option)
  local box = question.multiple and (ask.ticked[i] and ' ☑' or ' ☐') or ''
  local description = option.description and '  ' .. text.one_line(option.description) or ''
  return line({ tostring(i), 'CaddieKey' }, { box .. ' ' .. text.one_line(option.label) }, { description, 'CaddieDim' })
end

local function key_row(ask, question)
  local pieces = { { ask.inserting and 'Esc, then  ' or '', 'CaddieDim' } }
  if question.multiple then
    vim.list_extend(pieces, { { 'd', 'CaddieKey' }, { ' done   ' } })
  end
  local own = #question.options > 0 and ' own answer…   ' or ' answer…   '
  vim.list_extend(pieces, { { 'o', 'CaddieKey' }, { own }, { 'x', 'CaddieKey' }, { ' decline' } })
  return line(unpack(pieces))
end

local function rows(ask)
  local question, out = question_of(ask), { { '' } }
  local count = #ask.params.questions > 1 and ('  %d of %d'):format(ask.at, #ask.params.questions) or ''
  table.insert(out, line({ ask.title, 'CaddieUser' }, { count, 'CaddieDim' }))
  for _, l in ipairs(text.lines(question.question)) do
    table.insert(out, line({ l }))
  end
  for i, option in ipairs(question.options) do
    table.insert(out, option_row(ask, question, i, option))
  end
  table.insert(out, key_row(ask, question))
  return out
end

local function give(ask, answer)
  ask.answers[question_of(ask).id] = answer
  ask.ticked = {}
  if ask.at == #ask.params.questions then
    return asks.answer(ask, { answers = ask.answers })
  end
  ask.at = ask.at + 1
  asks.refresh()
end

local function ticked_labels(ask, question)
  local labels = {}
  for i, option in ipairs(question.options) do
    if ask.ticked[i] then
      table.insert(labels, option.label)
    end
  end
  return table.concat(labels, ', ')
end

local function own_words(ask)
  ask.busy = true
  vim.ui.input({ prompt = text.one_line(question_of(ask).question) .. ' ' }, function(answer)
    ask.busy = false
    if answer and answer ~= '' then
      give(ask, answer)
    end
  end)
end

local function keys(ask)
  local question, map = question_of(ask), {}
  for i, option in ipairs(vim.list_slice(question.options, 1, 9)) do
    map[tostring(i)] = function()
      if question.multiple then
        ask.ticked[i] = not ask.ticked[i]
        asks.refresh()
      else
        give(ask, option.label)
      end
    end
  end
  if question.multiple then
    map.d = function()
      give(ask, ticked_labels(ask, question))
    end
  end
  map.o = function()
    own_words(ask)
  end
  map.x = function()
    asks.answer(ask, DECLINED)
  end
  return map
end

local function select_one(question, title, callback)
  local prompt = title .. ': ' .. text.one_line(question.question)
  if #question.options == 0 then
    return vim.ui.input({ prompt = prompt .. ' ' }, callback)
  end
  local labels = vim.tbl_map(function(option)
    return text.one_line(option.label)
  end, question.options)
  vim.ui.select(labels, { prompt = prompt, kind = 'caddie' }, function(_, i)
    callback(i and question.options[i].label)
  end)
end

local function without_chat(params)
  local co, answers = coroutine.running(), {}
  local function step(at)
    local question = params.questions[at]
    if not question then
      return coroutine.resume(co, { answers = answers })
    end
    select_one(question, text.one_line(params.title), function(answer)
      if not answer then
        return coroutine.resume(co, DECLINED)
      end
      answers[question.id] = answer
      step(at + 1)
    end)
  end
  vim.schedule(function()
    step(1)
  end)
  return coroutine.yield()
end

---@param params table of `caddie/question/ask`
---@param in_chat boolean false: no chat to ask it in
---@return table answer
function M.ask(params, in_chat)
  if #params.questions == 0 then
    return { answers = vim.empty_dict() }
  elseif not in_chat then
    return without_chat(params)
  end
  return asks.wait({
    id = params.requestId,
    session_id = params.sessionId,
    title = text.one_line(params.title),
    params = params,
    at = 1,
    ticked = {},
    answers = {},
    rows = rows,
    keys = keys,
    withdrawn = DECLINED,
  })
end

return M
