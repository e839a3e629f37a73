--- Puts a conversation into a buffer: transcript, then a block that asks, then a rule, then the person's own lines.
--- Everything above the rule is ours; it is written so that neither cursor, scroll nor undo of the person suffers.
local api = vim.api
local markdown = require('caddie.markdown')
local rows_of = require('caddie.rows')

---@class caddie.View
---@field buf integer
---@field counts integer[] rows of each item
---@field drawn caddie.Row[][]
---@field block caddie.Row[]
---@field prompt integer row (from 0) where the person's own lines begin
---@field rule {left?: table, right?: table, below?: table[], placeholder?: string}
local View = {}
View.__index = View

local ROWS = api.nvim_create_namespace('caddie.rows')
local TICK = api.nvim_create_namespace('caddie.tick')
local RULE = api.nvim_create_namespace('caddie.rule')
local MARKDOWN_LIMIT = 60000

local GROUPS = {
  CaddieDim = 'Comment',
  CaddieDone = 'Comment',
  CaddieOn = 'DiagnosticOk',
  CaddieTool = 'Normal',
  CaddieUser = 'Title',
  CaddieAccent = 'Function',
  CaddieBad = 'DiagnosticError',
  CaddieWait = 'DiagnosticWarn',
  CaddieKey = 'Function',
  CaddieRule = 'NonText',
  CaddieHint = 'Comment',
  CaddieHintPicked = 'PmenuSel',
  CaddieAdd = 'Added',
  CaddieRemove = 'Removed',
  CaddieReviewNew = 'DiffAdd',
  CaddieReviewOld = 'DiffDelete',
}

function View.define_highlights()
  for name, link in pairs(GROUPS) do
    api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

---@return caddie.View
function View.new()
  View.define_highlights()
  local buf = api.nvim_create_buf(false, true)
  local self = setmetatable({ buf = buf, counts = {}, drawn = {}, block = {}, rule = {} }, View)
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].swapfile = false
  vim.bo[buf].filetype = 'caddie'
  local before = vim.fn.bufnr('caddie://chat')
  if before ~= -1 then
    api.nvim_buf_delete(before, { force = true })
  end
  api.nvim_buf_set_name(buf, 'caddie://chat')
  api.nvim_buf_set_lines(buf, 0, -1, false, { '', '' })
  self.prompt = 1
  self:guard()
  return self
end

---@return boolean
function View:is_valid()
  return api.nvim_buf_is_loaded(self.buf)
end

---@return integer[]
function View:windows()
  return vim.fn.win_findbuf(self.buf)
end

---@return integer? window in this tab page
function View:window()
  local win = vim.fn.bufwinid(self.buf)
  return win ~= -1 and win or nil
end

---@return integer
function View:width()
  local win = self:window()
  return win and api.nvim_win_get_width(win) - math.max(vim.fn.getwininfo(win)[1].textoff, 1) or 72
end

-- What the person does to the lines above the rule is put right again at once.
function View:guard()
  local mine = (self.guards or 0) + 1
  self.guards = mine
  api.nvim_buf_attach(self.buf, false, {
    on_lines = function(_, _, _, first, last, new_last)
      if self.guards ~= mine then
        return true
      elseif self.writing or first >= self.prompt then
        return
      end
      self:damage(last <= self.prompt and self.prompt + new_last - last or first)
    end,
  })
end

--- `:edit` has emptied the buffer.
function View:reload()
  self:guard()
  self:damage(0)
end

---@param prompt integer where the prompt begins now
function View:damage(prompt)
  self.prompt = prompt
  if not self.damaged then
    self.damaged = true
    vim.schedule(function()
      self:repair()
    end)
  end
end

function View:repair()
  if not (self.damaged and self:is_valid()) then
    return
  end
  self.damaged = false
  local lines, old = self:expected(), self.prompt
  self:change(function()
    api.nvim_buf_set_lines(self.buf, 0, old, false, lines)
    self.prompt = #lines
    if api.nvim_buf_line_count(self.buf) == self.prompt then
      api.nvim_buf_set_lines(self.buf, -1, -1, false, { '' })
    end
    for i in ipairs(self.drawn) do
      self:highlight(i, 1)
    end
  end)
  self:draw_block(self.block)
end

---@return string[] all lines above the prompt, as they should be
function View:expected()
  local lines = {}
  for _, group in ipairs(vim.list_extend(vim.list_slice(self.drawn), { self.block })) do
    for _, row in ipairs(group) do
      table.insert(lines, row[1])
    end
  end
  table.insert(lines, '')
  return lines
end

---@return string[]
function View:prompt_lines()
  return api.nvim_buf_get_lines(self.buf, self.prompt, -1, false)
end

---@param lines string[]
function View:set_prompt(lines)
  local modifiable = vim.bo[self.buf].modifiable
  vim.bo[self.buf].modifiable = true
  api.nvim_buf_set_lines(self.buf, self.prompt, -1, false, lines)
  vim.bo[self.buf].modifiable = modifiable
end

---@return integer row (from 0) of the item's first line
function View:start(index)
  local row = 0
  for i = 1, index - 1 do
    row = row + self.counts[i]
  end
  return row
end

---@param row integer from 0
---@return integer? index of the item that owns the line
---@return integer? which of its rows
function View:item_at(row)
  for i, count in ipairs(self.counts) do
    if row < count then
      return i, row + 1
    end
    row = row - count
  end
end

-- Undo is forgotten with each write of ours: an older state would bring back old lines above the rule.
local function without_undo(buf, fn)
  api.nvim_buf_call(buf, function()
    local levels, modifiable = vim.bo.undolevels, vim.bo.modifiable
    vim.bo.undolevels, vim.bo.modifiable = -1, true
    local ok, problem = pcall(fn)
    vim.bo.undolevels, vim.bo.modifiable = levels, modifiable
    vim.bo.modified = false
    if not ok then
      error(problem, 0)
    end
  end)
end

local function last_top(win, buf)
  local height = vim.fn.getwininfo(win)[1].height
  local row = api.nvim_buf_line_count(buf)
  while row > 1 and height > 0 do
    height = height - api.nvim_win_text_height(win, { start_row = row - 1, end_row = row - 1 }).all
    if height < 0 then
      break
    end
    row = row - 1
  end
  return height < 0 and row + 1 or row
end

-- Shows the last line at the bottom without moving the cursor.
local function follow(win, buf)
  local top = math.min(last_top(win, buf), api.nvim_win_get_cursor(win)[1])
  api.nvim_win_call(win, function()
    vim.fn.winrestview({ topline = math.max(top, 1), topfill = 0, skipcol = 0 })
  end)
end

--- Changes lines above the prompt. Who writes keeps the cursor and sees the end; who reads above keeps the place.
---@param fn fun()
function View:change(fn)
  self:repair()
  local places = {}
  for _, win in ipairs(self:windows()) do
    local cursor = api.nvim_win_get_cursor(win)
    local view = api.nvim_win_call(win, vim.fn.winsaveview)
    table.insert(places, { win = win, below = cursor[1] - self.prompt, col = cursor[2], view = view })
  end
  self.writing = true
  without_undo(self.buf, fn)
  self.writing = false
  for _, place in ipairs(places) do
    if place.below > 0 then
      local row = math.min(self.prompt + place.below, api.nvim_buf_line_count(self.buf))
      if api.nvim_win_get_cursor(place.win)[1] ~= row then
        api.nvim_win_set_cursor(place.win, { row, place.col })
      end
      follow(place.win, self.buf)
    else
      api.nvim_win_call(place.win, function()
        vim.fn.winrestview(place.view)
      end)
    end
  end
end

local function same(a, b)
  return a and b and a[1] == b[1] and a.markdown == b.markdown
end

--- Draws items again, or for the first time.
---@param items caddie.Item[]
---@param indexes integer[]
---@param now number
function View:draw(items, indexes, now)
  self:change(function()
    table.sort(indexes)
    for _, index in ipairs(indexes) do
      for i = #self.drawn + 1, index do
        self.drawn[i], self.counts[i] = {}, 0
      end
      self:draw_item(index, rows_of.of(items[index], now, self:width()))
    end
  end)
  self:draw_rule(self.rule)
end

-- The row from which Markdown is read again when rows from `first` on have changed: after the last blank line outside
-- a fence. What an answer said paragraphs ago is not read again with each word.
local function paragraph(rows, first)
  local from, fence = 1, nil
  for i = 1, math.min(first, #rows + 1) - 1 do
    local opens = rows[i][1]:match('^%s*(```)') or rows[i][1]:match('^%s*(~~~)')
    if opens and (fence == nil or fence == opens) then
      fence = not fence and opens or nil
    elseif not fence and rows[i][1] == '' then
      from = i + 1
    end
  end
  return from
end

function View:draw_item(index, new)
  local old, first = self.drawn[index], 1
  while same(old[first], new[first]) do
    first = first + 1
  end
  local is_markdown = new[#new] and new[#new].markdown
  local from = is_markdown and paragraph(new, first) or 1
  local start = self:start(index)
  local lines = {}
  for i = first, #new do
    table.insert(lines, new[i][1])
  end
  api.nvim_buf_clear_namespace(self.buf, ROWS, start + from - 1, start + #old)
  api.nvim_buf_set_lines(self.buf, start + first - 1, start + #old, false, lines)
  self.prompt = self.prompt + #new - #old
  self.drawn[index], self.counts[index] = new, #new
  self:highlight(index, from)
end

local function mark(buf, row, col, opts)
  opts.strict = false
  api.nvim_buf_set_extmark(buf, ROWS, row, col, opts)
end

local function highlight_row(buf, at, row)
  for _, hl in ipairs(row.hl or {}) do
    mark(buf, at, hl[1], { end_col = hl[2], hl_group = hl[3] })
  end
  if row.line_hl then
    mark(buf, at, 0, { line_hl_group = row.line_hl })
  end
  if row.right and row.right ~= '' and not row.spin then
    mark(buf, at, 0, { virt_text = { { row.right .. ' ', 'CaddieDim' } }, virt_text_pos = 'eol_right_align' })
  end
end

---@param index integer
---@param from? integer first of its rows to be highlighted
function View:highlight(index, from)
  local start, source, first = self:start(index), {}, nil
  for i = from or 1, #self.drawn[index] do
    local row = self.drawn[index][i]
    highlight_row(self.buf, start + i - 1, row)
    if row.markdown then
      first = first or start + i - 1
      table.insert(source, row[1])
    end
  end
  local joined = table.concat(source, '\n')
  if first and #joined < MARKDOWN_LIMIT then
    for _, m in ipairs(markdown.marks(joined .. '\n')) do
      mark(self.buf, first + m.row, m.col, {
        end_row = math.min(first + m.end_row, self.prompt),
        end_col = m.end_col,
        hl_group = m.hl,
        conceal = m.conceal,
      })
    end
  end
end

--- The block that asks for a permission or an answer; no rows take it away.
---@param block caddie.Row[]
function View:draw_block(block)
  local start = self:start(#self.counts + 1)
  self:change(function()
    api.nvim_buf_clear_namespace(self.buf, ROWS, start, start + #self.block)
    local lines = vim.tbl_map(function(row)
      return row[1]
    end, block)
    api.nvim_buf_set_lines(self.buf, start, start + #self.block, false, lines)
    self.prompt = self.prompt + #block - #self.block
    self.block = block
    for i, row in ipairs(block) do
      highlight_row(self.buf, start + i - 1, row)
    end
  end)
  self:draw_rule(self.rule)
end

local function cells(chunks)
  local n = 0
  for _, chunk in ipairs(chunks or {}) do
    n = n + api.nvim_strwidth(chunk[1])
  end
  return n
end

--- The rule between transcript and prompt: a hint at its left, the state at its right, chips below.
---@param rule {left?: table, right?: table, below?: table[], placeholder?: string} chunks `{text, group}`
function View:draw_rule(rule)
  self.rule = rule
  local width = self:width()
  local gap = width - cells(rule.left) - cells(rule.right) - 1
  local chunks = vim.list_extend({}, rule.left or {})
  table.insert(chunks, { ('─'):rep(math.max(gap, 1)), 'CaddieRule' })
  vim.list_extend(chunks, rule.right or {})
  table.insert(chunks, { '─', 'CaddieRule' })
  api.nvim_buf_set_extmark(self.buf, RULE, self.prompt - 1, 0, {
    id = 1,
    virt_text = chunks,
    virt_text_pos = 'overlay',
    virt_lines = rule.below,
  })
  api.nvim_buf_set_extmark(self.buf, RULE, self.prompt - 1, 0, {
    id = 3,
    virt_lines = self.prompt > 1 and { { { '', 'CaddieDim' } } } or nil,
    virt_lines_above = true,
  })
  local first = self:prompt_lines()
  local empty = #first == 1 and first[1] == ''
  api.nvim_buf_set_extmark(self.buf, RULE, self.prompt, 0, {
    id = 2,
    virt_text = empty and rule.placeholder and { { rule.placeholder, 'CaddieDim' } } or nil,
    virt_text_pos = 'overlay',
  })
end

--- Turns the clocks of running calls; touches no text.
---@param items caddie.Item[]
---@param now number
function View:tick(items, now)
  api.nvim_buf_clear_namespace(self.buf, TICK, 0, -1)
  local frame = rows_of.FRAMES[math.floor(now / 120) % #rows_of.FRAMES + 1]
  for index, item in ipairs(items) do
    if rows_of.is_ticking(item) and self.counts[index] and self.counts[index] > 0 then
      local row = self:start(index) + (item.lead and 1 or 0)
      local right = rows_of.right(item, now)
      local o = { virt_text = { { frame, 'CaddieAccent' } }, virt_text_pos = 'overlay', strict = false }
      api.nvim_buf_set_extmark(self.buf, TICK, row, 0, o)
      o = { virt_text = { { right .. ' ', 'CaddieDim' } }, virt_text_pos = 'eol_right_align', strict = false }
      api.nvim_buf_set_extmark(self.buf, TICK, row, 0, o)
    end
  end
end

--- Empties the transcript.
function View:clear()
  self:change(function()
    api.nvim_buf_clear_namespace(self.buf, ROWS, 0, -1)
    api.nvim_buf_clear_namespace(self.buf, TICK, 0, -1)
    api.nvim_buf_set_lines(self.buf, 0, self.prompt - 1, false, {})
    self.prompt, self.drawn, self.counts, self.block = 1, {}, {}, {}
  end)
  self:draw_rule(self.rule)
end

return View
