--- Which parts of an answer are emphasised? Only what the model said is read as Markdown, each answer for itself:
--- an unclosed fence ends with its answer, and a tool's name or an argument is never markup.
local M = {}

local HIDDEN = { emphasis_delimiter = true, code_span_delimiter = true }

local function add(marks, query, source, id, node, metadata)
  local name = query.captures[id]
  local range = vim.treesitter.get_range(node, source, metadata[id])
  local mark = { row = range[1], col = range[2], end_row = range[4], end_col = range[5] }
  if HIDDEN[node:type()] then
    mark.conceal = ''
  elseif name ~= 'spell' and name ~= 'nospell' and name ~= 'conceal' and name:sub(1, 1) ~= '_' then
    mark.hl = '@' .. name
  else
    return
  end
  table.insert(marks, mark)
end

---@param source string
---@return {row: integer, col: integer, end_row: integer, end_col: integer, hl?: string, conceal?: string}[]
function M.marks(source)
  local marks = {}
  local ok, parser = pcall(vim.treesitter.get_string_parser, source, 'markdown')
  if not ok then
    return marks
  end
  parser:parse(true)
  parser:for_each_tree(function(tree, language_tree)
    local found, query = pcall(vim.treesitter.query.get, language_tree:lang(), 'highlights')
    if found and query then
      for id, node, metadata in query:iter_captures(tree:root(), source) do
        add(marks, query, source, id, node, metadata)
      end
    end
  end)
  return marks
end

return M
