--- What `:Caddie` can do, one row each.
local client = require('caddie.client')
local text = require('caddie.text')

local M = {}

local function chat()
  return require('caddie.chat')
end

local ask = client.ask

local function selection(args)
  if args.range == 0 then
    return nil
  end
  local lines = vim.api.nvim_buf_get_lines(0, args.line1 - 1, args.line2, false)
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ':.')
  return {
    name = ('%s:%d-%d'):format(name ~= '' and name or 'selection', args.line1, args.line2),
    text = table.concat(lines, '\n'),
  }
end

local function choose(items, prompt, format, on_choice)
  if #items == 0 then
    return client.say('There are none yet.')
  end
  vim.ui.select(items, { prompt = prompt, format_item = format, kind = 'caddie' }, function(item)
    if item then
      on_choice(item)
    end
  end)
end

local function session_line(session)
  local turns = session.turns == 1 and '1 turn' or session.turns .. ' turns'
  return ('%s  (%s, %s)'):format(text.one_line(session.title), turns, session.updated:sub(1, 16):gsub('T', ' '))
end

local function sessions()
  ask('caddie/session/list', nil, function(result)
    choose(result.sessions, 'Go on with', session_line, function(session)
      ask('caddie/session/open', { sessionId = session.sessionId }, chat().resume)
    end)
  end)
end

local function permissions()
  ask('caddie/permissions/list', { sessionId = chat().conversation().session_id }, function(result)
    choose(result.grants, 'Take back', function(grant)
      local where = grant.server and ' · ' .. text.one_line(grant.server) or ''
      return text.one_line(grant.tool) .. where .. ' (' .. grant.scope .. ') ' .. text.one_line(grant.pattern or '')
    end, function(grant)
      ask('caddie/permissions/revoke', { id = grant.id }, function()
        client.say(text.one_line(grant.tool) .. ' asks again from now on.')
      end)
    end)
  end)
end

local function hints(word)
  local state = require('caddie.hints')
  local on = word == 'on' or (word ~= 'off' and not state.enabled())
  state.enable(on)
  client.say(on and 'Hints are on.' or 'Hints are off.')
end

local function mode(word)
  if word ~= 'agent' and word ~= 'plan' then
    return client.say('“:Caddie mode agent” or “:Caddie mode plan”.', 'WARN')
  end
  chat().next_mode = word
  client.say('The next message is sent in mode ' .. word .. '.')
end

local function use_model(id)
  client.set('model', id)
  ask('caddie/models/list', nil, function(result)
    if result.model == id then
      return client.say(('From the next message on: %s, %s.'):format(result.provider, text.one_line(id)))
    end
    client.say(
      ('It stays %s: a nearer setting says so (CADDIE_MODEL in the environment?).'):format(text.one_line(result.model)),
      'WARN'
    )
  end)
end

local function model(id)
  if id then
    return use_model(id)
  end
  ask('caddie/models/list', nil, function(result)
    if result.problem then
      client.say(text.one_line(result.problem), 'WARN')
    end
    local function line(item)
      local room = item.context and (' · reads %s tokens'):format(text.tokens(item.context)) or ''
      return text.one_line(item.id) .. room .. (item.id == result.model and ' · in use' or '')
    end
    choose(result.models, text.one_line(result.why), line, function(item)
      use_model(item.id)
    end)
  end)
end

local function compact()
  local session = chat().conversation().session_id
  if not session then
    return client.say('There is no conversation yet.')
  end
  client.say('The conversation is being summarized…')
  ask('caddie/session/compact', { sessionId = session }, function(result)
    client.say(
      ('About %d tokens became %d; the next message goes on from the notes.'):format(
        result.tokensBefore,
        result.tokensAfter
      )
    )
  end)
end

local function stop()
  if not chat().stop() then
    client.say('Nothing is running.')
  end
end

--- By session, what takes each undo back.
---@type table<string, string[]>
local undone = vim.defaulttable()

local function session_id()
  return chat().conversation().session_id
end

local function say_undone(result)
  require('caddie.disk').follow()
  local is_whole = vim.iter(result.files):all(function(file)
    return file.outcome ~= 'conflict'
  end)
  client.say(result.message, is_whole and 'INFO' or 'WARN')
end

--- Offered to `:Caddie redo`.
local function remember(session, result)
  if result.undoId then
    table.insert(undone[session], result.undoId)
  end
end

local function undo(checkpoint)
  local session = session_id()
  if not session then
    return client.say('There is nothing to undo yet.')
  end
  ask('caddie/session/undo', { sessionId = session, turnId = checkpoint }, function(result)
    if not checkpoint then
      remember(session, result)
    end
    say_undone(result)
    require('caddie.review').refresh()
  end)
end

local function redo()
  local last = table.remove(undone[session_id() or ''])
  if not last then
    return client.say('There is no undo to take back.')
  end
  undo(last)
end

---@type table<string, {run: fun(args: table, word?: string), words?: string[]}>
local COMMANDS = {
  chat = {
    run = function(args)
      chat().open({ attach = selection(args) })
    end,
  },
  tools = {
    run = function()
      require('caddie.tools').open()
    end,
  },
  new = {
    run = function()
      chat().new()
    end,
  },
  stop = { run = stop },
  undo = {
    run = function()
      undo()
    end,
  },
  redo = { run = redo },
  changes = {
    run = function()
      require('caddie.review').open(session_id())
    end,
  },
  keep = {
    run = function(_, word)
      require('caddie.review').keep(session_id(), word)
    end,
    words = { 'all', 'file' },
  },
  takeback = {
    run = function(_, word)
      local session = session_id()
      require('caddie.review').take_back(session, word, function(result)
        remember(session, result)
        say_undone(result)
      end)
    end,
    words = { 'all', 'file' },
  },
  compact = { run = compact },
  prompts = {
    run = function(_, word)
      require('caddie.servers').prompts(word)
    end,
  },
  authorize = {
    run = function(_, word)
      require('caddie.servers').authorize(word)
    end,
  },
  signout = {
    run = function(_, word)
      require('caddie.servers').sign_out(word)
    end,
  },
  sessions = { run = sessions },
  permissions = { run = permissions },
  hints = {
    run = function(_, word)
      hints(word)
    end,
    words = { 'on', 'off' },
  },
  mode = {
    run = function(_, word)
      mode(word)
    end,
    words = { 'agent', 'plan' },
  },
  model = {
    run = function(_, word)
      model(word)
    end,
  },
  restart = {
    run = function()
      client.restart()
    end,
  },
  log = {
    run = function()
      vim.cmd.tabnew({ vim.fn.fnameescape(vim.lsp.get_log_path()) })
    end,
  },
  health = {
    run = function()
      vim.cmd.checkhealth('caddie')
    end,
  },
}

function M.run(args)
  local name = args.fargs[1] or 'chat'
  local command = COMMANDS[name]
  if not command then
    local known = vim.tbl_keys(COMMANDS)
    table.sort(known)
    return client.say(
      ('“:Caddie %s” is not known. There are: %s.'):format(name, table.concat(known, ', ')),
      'ERROR'
    )
  end
  if vim.fn.has('nvim-0.11') == 0 then
    return client.say('Caddie needs Neovim 0.11 or newer.', 'ERROR')
  end
  require('caddie.chat')
  command.run(args, args.fargs[2])
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(line, '%s+')
  local name = words[#words - 1]
  local options = COMMANDS[name] and COMMANDS[name].words or {}
  if #words <= 2 or not COMMANDS[words[2]] then
    options = vim.tbl_keys(COMMANDS)
  end
  local fitting = vim.tbl_filter(function(option)
    return vim.startswith(option, lead)
  end, options)
  table.sort(fitting)
  return fitting
end

return M
