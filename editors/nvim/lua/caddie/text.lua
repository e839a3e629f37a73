--- What is done to words from strangers before a person sees them. Pure.
local M = {}

-- Control characters, C1 controls, and the marks that turn the direction of text round.
local REMOVED = { '[%z\1-\8\11-\31\127]', '\194[\128-\159]', '\226\128[\142\143\168-\174]', '\226\129[\166-\169]' }

---@param s any
---@return string text with its line breaks and tabs, without anything a terminal could obey
function M.clean(s)
  if type(s) ~= 'string' then
    return s == nil and '' or tostring(s)
  end
  s = s:gsub('\r\n', '\n')
  for _, pattern in ipairs(REMOVED) do
    s = s:gsub(pattern, '')
  end
  return s
end

---@param s any
---@return string[]
function M.lines(s)
  return vim.split(M.clean(s), '\n', { plain = true })
end

---@param s any
---@return string
function M.one_line(s)
  return vim.trim((M.clean(s):gsub('%s+', ' ')))
end

---@param s string
---@param width integer cells
---@return string
function M.cap(s, width)
  if vim.fn.strdisplaywidth(s) <= width then
    return s
  end
  local cut = vim.fn.strcharpart(s, 0, math.max(width - 1, 0))
  while cut ~= '' and vim.fn.strdisplaywidth(cut) > width - 1 do
    cut = vim.fn.strcharpart(cut, 0, vim.fn.strchars(cut) - 1)
  end
  return vim.trim(cut) .. '…'
end

---@param ms number
---@return string
function M.elapsed(ms)
  local seconds = ms / 1000
  if seconds < 0.05 then
    return ''
  elseif seconds < 10 then
    return ('%.1f s'):format(seconds)
  end
  return M.seconds(ms)
end

---@param ms number
---@return string
function M.seconds(ms)
  local seconds = math.floor(ms / 1000)
  if seconds < 60 then
    return ('%d s'):format(seconds)
  end
  return ('%d min %d s'):format(math.floor(seconds / 60), seconds % 60)
end

---@param n number
---@return string
function M.tokens(n)
  if n < 1000 then
    return ('%d'):format(n)
  end
  return ((('%.1fk'):format(n / 1000)):gsub('%.0k', 'k'))
end

---@param value any an argument of a tool
---@return string
function M.value(value)
  if type(value) == 'string' then
    return M.clean(value)
  elseif value == vim.NIL then
    return 'null'
  elseif type(value) == 'number' and value % 1 == 0 and math.abs(value) < 1e15 then
    return ('%d'):format(value)
  elseif type(value) == 'table' then
    return M.clean(vim.json.encode(value))
  end
  return tostring(value)
end

---@param params table<string, any>
---@return string[] keys in a fixed order: short values first, as they are read at a glance
function M.keys(params)
  local keys = vim.tbl_keys(params)
  table.sort(keys, function(a, b)
    local long_a, long_b = #M.value(params[a]) > 60, #M.value(params[b]) > 60
    if long_a ~= long_b then
      return long_b
    end
    return tostring(a) < tostring(b)
  end)
  return keys
end

-- One of these alone says what a call is about.
local TELLING = { 'command', 'path', 'file_path', 'url', 'query', 'pattern' }

--- A path as one would say it here.
---@param path string
---@return string
function M.path(path)
  path = M.one_line(path)
  return path:sub(1, 1) == '/' and vim.fn.fnamemodify(path, ':.') or path
end

---@param params table<string, any>?
---@return string `since v2.4`, `status=overdue, limit=10`
function M.summary(params)
  local keys = M.keys(params or {})
  for _, key in ipairs(vim.list_extend({ #keys == 1 and keys[1] or nil }, TELLING)) do
    if params and params[key] ~= nil then
      return M.cap(M.path(M.value(params[key])), 60)
    end
  end
  local parts = vim.tbl_map(function(key)
    return M.one_line(key) .. '=' .. M.cap(M.one_line(M.value(params[key])), 30)
  end, keys)
  return M.cap(table.concat(parts, ', '), 60)
end

return M
