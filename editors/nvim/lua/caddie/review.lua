--- What turns changed and nobody accepted yet: a quickfix list of hunks, drawn into the files too.
local client = require('caddie.client')
local text = require('caddie.text')

local M = {}

local TITLE = 'Caddie: changes to review'
local OLD_LINES_SHOWN = 30
local space = vim.api.nvim_create_namespace('caddie.review')

---@class caddie.Review
---@field session string
---@field files table[] as in `caddie/session/changes`
---@type caddie.Review?
local review

local function absolute(path)
  local running = client.get()
  return vim.startswith(path, '/') and path or vim.fs.joinpath(running and running.root_dir or vim.fn.getcwd(), path)
end

local function canonical(path)
  return vim.fs.normalize(vim.uv.fs_realpath(path) or path)
end

local function file_of(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  return review and name ~= '' and vim.iter(review.files):find(function(file)
    return canonical(absolute(file.path)) == canonical(name)
  end)
end

local function old_lines(hunk)
  local lines = vim.list_slice(hunk.lines, 1, hunk.oldLines)
  local shown = vim.tbl_map(function(line)
    return { { text.one_line(line:sub(2)), 'CaddieReviewOld' } }
  end, vim.list_slice(lines, 1, OLD_LINES_SHOWN))
  if hunk.oldLines > #shown then
    table.insert(shown, { { ('… %d more lines'):format(hunk.oldLines - #shown), 'Comment' } })
  end
  return shown
end

--- Old lines as virtual ones, new lines coloured: nothing of the text itself changes.
local function draw(buf)
  vim.api.nvim_buf_clear_namespace(buf, space, 0, -1)
  local file = file_of(buf)
  local last = vim.api.nvim_buf_line_count(buf)
  for _, hunk in ipairs(file and file.hunks or {}) do
    local first = math.max(hunk.newStart - 1, 0)
    for row = first, math.min(first + hunk.newLines, last) - 1 do
      vim.api.nvim_buf_set_extmark(buf, space, row, 0, { line_hl_group = 'CaddieReviewNew' })
    end
    if hunk.oldLines > 0 then
      local is_gone = hunk.newLines == 0 and hunk.newStart > 0
      local row = math.min(is_gone and hunk.newStart - 1 or first, last - 1)
      vim.api.nvim_buf_set_extmark(buf, space, row, 0, { virt_lines = old_lines(hunk), virt_lines_above = not is_gone })
    end
  end
end

local function draw_all()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' then
      draw(buf)
    end
  end
end

local function entry(file, hunk)
  local what = hunk and ('+%d −%d  '):format(hunk.newLines, hunk.oldLines)
    or ('%s  +%d −%d'):format(file.status, file.added, file.removed)
  local said = hunk and vim.trim((hunk.lines[hunk.oldLines + 1] or hunk.lines[1] or ''):sub(2)) or ''
  if file.blocked then
    what = what .. '  cannot be taken back: it ' .. file.blocked
  end
  return {
    filename = absolute(file.path),
    lnum = hunk and math.max(hunk.newStart, 1) or 1,
    text = text.one_line(what .. said),
    user_data = { session = review.session, path = file.path, hunk = hunk and hunk.id },
  }
end

local function entries()
  local found = {}
  for _, file in ipairs(review and review.files or {}) do
    if #file.hunks == 0 then
      table.insert(found, entry(file))
    end
    for _, hunk in ipairs(file.hunks) do
      table.insert(found, entry(file, hunk))
    end
  end
  return found
end

local function is_ours()
  return vim.fn.getqflist({ title = 0 }).title == TITLE
end

--- The list keeps its place; another one that was made since is left alone.
local function show(session, files, is_new)
  review = { session = session, files = files }
  if is_new or is_ours() then
    local at = is_new and 1 or vim.fn.getqflist({ idx = 0 }).idx
    local items = entries()
    vim.fn.setqflist({}, is_new and not is_ours() and ' ' or 'r', {
      title = TITLE,
      items = items,
      idx = math.max(math.min(at, #items), 1),
    })
  end
  draw_all()
  if #files == 0 then
    review = nil
  end
end

local ask = client.ask

local function look(session, on_files)
  ask('caddie/session/changes', { sessionId = session }, function(result)
    on_files(result.files)
  end)
end

--- Opens the list of what is to be reviewed in this conversation.
---@param session string?
function M.open(session)
  if not session then
    return client.say('Nothing was done in this conversation yet.')
  end
  look(session, function(files)
    show(session, files, #files > 0)
    if #files == 0 then
      if is_ours() then
        vim.cmd.cclose()
      end
      return client.say('There is nothing to review.')
    end
    vim.cmd('botright copen')
  end)
end

--- Draws anew what is listed: a turn is over, or a file was written. No reason to start a server that went away.
function M.refresh()
  if review and client.get() then
    local session = review.session
    look(session, function(files)
      if review and review.session == session then
        show(session, files)
      end
    end)
  end
end

--- Where the person is; by the time the server has answered, that may be somewhere else.
local function here()
  local buf, row = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1]
  local is_list = vim.bo[buf].buftype == 'quickfix' and is_ours()
  local item = is_list and vim.fn.getqflist()[row] or nil
  return { buf = buf, row = row, is_list = is_list, item = item and item.user_data }
end

local function change_at(place)
  if place.is_list then
    return place.item and place.item.session == review.session and place.item or nil
  end
  local row = place.row
  local file = vim.api.nvim_buf_is_valid(place.buf) and file_of(place.buf)
  for _, hunk in ipairs(file and file.hunks or {}) do
    local first, last = hunk.newStart, hunk.newStart + math.max(hunk.newLines, 2) - 1
    if row >= first and row <= last then
      return { path = file.path, hunk = hunk.id }
    end
  end
  return file and #file.hunks == 0 and { path = file.path } or nil
end

local function chosen(word, place)
  if word == 'all' then
    return vim.tbl_map(function(file)
      return { path = file.path }
    end, review.files)
  end
  local one = change_at(place)
  if not one and word == 'file' then
    local file = vim.api.nvim_buf_is_valid(place.buf) and file_of(place.buf)
    one = file and { path = file.path }
  end
  return one and { { path = one.path, hunks = word ~= 'file' and one.hunk and { one.hunk } or nil } }
end

---@param session string?
---@param word string? `file` or `all`; else the change under the cursor
---@param act fun(session: string, files: table[])
local function with_choice(session, word, act)
  if not session then
    return client.say('Nothing was done in this conversation yet.')
  end
  local place = here()
  look(session, function(files)
    review = { session = session, files = files }
    local choice = chosen(word, place)
    if not choice or #choice == 0 then
      show(session, files)
      return client.say('No change to review is under the cursor; “:Caddie changes” lists them.')
    end
    act(session, choice)
  end)
end

---@param on_done fun(result: table)
function M.take_back(session, word, on_done)
  with_choice(session, word, function(id, files)
    ask('caddie/session/undo', { sessionId = id, files = files }, function(result)
      on_done(result)
      M.refresh()
    end)
  end)
end

function M.keep(session, word)
  with_choice(session, word, function(id, files)
    ask('caddie/session/keep', { sessionId = id, files = files }, function(result)
      show(id, result.files)
    end)
  end)
end

vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost' }, {
  group = vim.api.nvim_create_augroup('caddie.review', { clear = true }),
  callback = function(event)
    if file_of(event.buf) then
      M.refresh()
    end
  end,
})

return M
