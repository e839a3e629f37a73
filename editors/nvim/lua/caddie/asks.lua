--- What waits for the person: permissions and questions, one shown at a time, the oldest first.
local M = {}

---@class caddie.Ask
---@field id string request id
---@field title string
---@field session_id? string
---@field tool? string
---@field rows fun(ask: caddie.Ask, width: integer): caddie.Row[]
---@field keys fun(ask: caddie.Ask): table<string, fun()>
---@field withdrawn table what is answered when the server takes it back
---@field resume? fun(result: table)
---@field shown_at? number
---@field inserting? boolean the person is typing: keys do not answer yet
---@field busy? boolean words are being asked for

---@type caddie.Ask[]
local queue = {}
local on_change = function() end

---@param fn fun(added?: caddie.Ask)
function M.on_change(fn)
  on_change = fn
end

---@return caddie.Ask?
function M.current()
  return queue[1]
end

---@return integer
function M.count()
  return #queue
end

--- What is shown has changed.
function M.refresh()
  on_change()
end

---@return caddie.Ask?
function M.next()
  return queue[2]
end

--- Waits, in the coroutine of a request's handler, until the person has answered.
---@param ask caddie.Ask
---@return table
function M.wait(ask)
  local co = coroutine.running()
  ask.resume = function(result)
    vim.schedule(function()
      coroutine.resume(co, result)
    end)
  end
  table.insert(queue, ask)
  vim.schedule(function()
    on_change(ask)
  end)
  return coroutine.yield()
end

---@param ask caddie.Ask
---@param result table
function M.answer(ask, result)
  for i, waiting in ipairs(queue) do
    if waiting == ask then
      table.remove(queue, i)
      ask.resume(result)
      return on_change()
    end
  end
end

---@param gone fun(ask: caddie.Ask): boolean
function M.withdraw(gone)
  for _, ask in ipairs(vim.tbl_filter(gone, queue)) do
    M.answer(ask, ask.withdrawn)
  end
end

--- A request was cancelled. Neovim tells handlers no request id, so that an unknown one can only mean the last waiting.
---@param id any
function M.cancel(id)
  local known = vim.tbl_filter(function(ask)
    return ask.id == tostring(id)
  end, queue)
  if #known == 0 and #queue == 1 then
    known = { queue[1] }
  end
  for _, ask in ipairs(known) do
    M.answer(ask, ask.withdrawn)
  end
end

return M
