--- Buffers follow what tools and undos did to their files. Those with words of the person in them are left alone:
--- Neovim itself asks about these, when the person comes to them.
local M = {}

local DELAY_MS = 50
local waits = false

local function follow(buf)
  local is_file = vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' and vim.api.nvim_buf_get_name(buf) ~= ''
  if is_file and not vim.bo[buf].modified and vim.o.autoread then
    vim.cmd.checktime(buf)
  end
end

function M.follow()
  if waits then
    return
  end
  waits = true
  vim.defer_fn(function()
    waits = false
    vim.tbl_map(follow, vim.api.nvim_list_bufs())
  end, DELAY_MS)
end

return M
