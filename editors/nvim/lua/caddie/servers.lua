--- MCP servers: their prompts, and signing in.
local client = require('caddie.client')
local text = require('caddie.text')

local M = {}

---@param method string
---@param params table?
---@param on_result fun(result: table)
local function ask(method, params, on_result)
  client.request(method, params, function(problem, result)
    if problem then
      return client.say(text.one_line(problem.message), 'ERROR')
    end
    on_result(result)
  end)
end

local function prompt_line(prompt)
  return ('/%s  %s'):format(text.one_line(prompt.name), text.one_line(prompt.description or prompt.title or ''))
end

--- The arguments one after another; an optional one may stay empty, and Esc ends it all.
---@param prompt table
---@param on_done fun(arguments: table<string, string>)
local function fill_in(prompt, on_done)
  local arguments = vim.empty_dict()
  local function step(index)
    local wanted = (prompt.arguments or {})[index]
    if not wanted then
      return on_done(arguments)
    end
    local about = wanted.description and ' (' .. text.one_line(wanted.description) .. ')' or ''
    local optional = wanted.required and '' or ', optional'
    vim.ui.input({ prompt = text.one_line(wanted.name) .. about .. optional .. ': ' }, function(value)
      if value == nil then
        return
      end
      arguments[wanted.name] = value ~= '' and value or nil
      step(index + 1)
    end)
  end
  step(1)
end

---@param prompt table
local function use(prompt)
  fill_in(prompt, function(arguments)
    ask('caddie/prompts/get', { name = prompt.name, arguments = arguments }, function(result)
      require('caddie.chat').put(result.message, result.attachments)
    end)
  end)
end

--- Puts a server's prompt into the input, where it may be changed before it is sent.
---@param name string? `server:prompt`
function M.prompts(name)
  ask('caddie/prompts/list', nil, function(result)
    local wanted = name and name:gsub('^/', '')
    for _, prompt in ipairs(result.prompts) do
      if prompt.name == wanted then
        return use(prompt)
      end
    end
    if wanted then
      return client.say(('No MCP server offers the prompt /%s.'):format(text.one_line(wanted)), 'WARN')
    elseif #result.prompts == 0 then
      return client.say('No MCP server that runs offers a prompt.')
    end
    vim.ui.select(result.prompts, { prompt = 'Prompt', format_item = prompt_line, kind = 'caddie' }, function(prompt)
      if prompt then
        use(prompt)
      end
    end)
  end)
end

---@param what string what to do
---@param server string?
---@return boolean
local function is_named(what, server)
  if not server then
    client.say(('“:Caddie %s NAME”, with the name of an MCP server.'):format(what), 'WARN')
  end
  return server ~= nil
end

---@param server string?
function M.authorize(server)
  if is_named('authorize', server) then
    ask('caddie/mcp/authorize', { server = server }, function(result)
      local where = result.opened and 'Sign in in the browser that has opened.' or 'Sign in here: ' .. result.url
      client.say(text.one_line(where))
    end)
  end
end

---@param server string?
function M.sign_out(server)
  if is_named('signout', server) then
    ask('caddie/mcp/signOut', { server = server }, function()
      client.say('Signed out of ' .. server .. '.')
    end)
  end
end

return M
