"""What does the tools panel say? Every fixed word of it, in English and in Simplified Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Language = Literal["en", "zh"]

_TABLE: dict[str, tuple[str, str]] = {
    "tools": ("Tools", "工具"),
    "mcp": ("MCP", "MCP"),
    "permissions": ("Permissions", "权限"),
    "scope": ("scope: {scope}", "范围：{scope}"),
    "user": ("user", "用户"),
    "workspace": ("workspace", "工作区"),
    "session": ("session", "会话"),
    "environment": ("environment", "环境变量"),
    "editorUser": ("editor", "编辑器"),
    "editorWorkspace": ("editor, workspace", "编辑器工作区"),
    "merged": ("settings", "设置"),
    "enabled": ("enabled", "启用"),
    "deferred": ("deferred", "延迟"),
    "disabled": ("disabled", "禁用"),
    "built-in": ("Built-in", "内置"),
    "count": ("{n} tools", "{n} 个工具"),
    "count_one": ("1 tool", "1 个工具"),
    "count_known": ("{n} tools known", "已知 {n} 个工具"),
    "always_load": ("always loaded", "工具自定为启用"),
    "bridge": ("automatic", "自动"),
    "of_tokens": ("{now} of {all} tokens", "{now} / {all} tokens"),
    "off": ("all tools are off", "工具已全部停用"),
    "filter": ("filter", "筛选"),
    "nothing": ("Nothing matches “{query}”. Esc clears the filter.", "没有与“{query}”匹配的工具。按 Esc 清除筛选。"),
    "ready": ("ready", "就绪"),
    "connecting": ("connecting", "连接中"),
    "failed": ("failed", "失败"),
    "needsAuth": ("needs you to sign in", "需要登录"),
    "stopped": ("not running", "未运行"),
    "seconds": ("{n} s", "{n} 秒"),
    "n_failed": ("{n} failed", "{n} 个失败"),
    "n_connecting": ("{n} connecting", "{n} 个连接中"),
    "no_servers": (
        "No MCP servers. Add some to mcp.servers in the settings, to .mcp.json or to .vscode/mcp.json.",
        "没有 MCP 服务器。可在设置的 mcp.servers、.mcp.json 或 .vscode/mcp.json 中添加。",
    ),
    "rules": ("Rules, from the settings", "设置中的规则"),
    "grants": ("Given in prompts", "在提示中授予"),
    "no_rules": ("none; tools that change things ask first", "无；会更改内容的工具会先询问"),
    "no_grants": ("none", "无"),
    "allow": ("allow", "允许"),
    "ask": ("ask", "询问"),
    "deny": ("deny", "拒绝"),
    "always": ("always", "始终"),
    # Keys, in the footer.
    "k_cycle": ("✓→✗→◐", "切换 ✓→✗→◐"),
    "k_fold": ("fold", "折叠"),
    "k_unfold": ("unfold", "展开"),
    "k_all_on": ("all on", "全部启用"),
    "k_all_off": ("all off", "全部禁用"),
    "k_reset": ("reset", "恢复默认"),
    "k_restart": ("restart", "重启"),
    "k_start": ("start", "启动"),
    "k_log": ("log", "日志"),
    "k_master_off": ("tools off", "总开关：关"),
    "k_master_on": ("tools on", "总开关：开"),
    "k_why": ("why", "原因"),
    "k_done": ("done", "返回"),
    "k_filter": ("filter", "筛选"),
    "k_scope": ("scope", "范围"),
    "k_reset_all": ("reset all", "全部恢复"),
    "k_undo": ("undo", "撤销"),
    "k_groups": ("groups", "分组"),
    "k_tabs": ("tabs", "标签"),
    "k_saved": ("saved at once", "更改立即保存"),
    "k_list": ("to the list", "到列表"),
    "k_clear": ("clear", "清除"),
    "k_close": ("close", "关闭"),
    "k_yes": ("yes", "是"),
    "k_no": ("no", "否"),
    "k_revoke": ("take back", "收回"),
    # What happened.
    "m_state": ("{tool} is {state} ({scope}).", "{tool}：{state}（{scope}）。"),
    "m_reset": ("{tool} is back to its default: {state}.", "{tool} 已恢复默认：{state}。"),
    "m_still": (
        "Saved, but {tool} stays {state}: {source} decides.",
        "已保存，但 {tool} 仍为{state}：由 {source} 决定。",
    ),
    "m_switch_off": ("All tools are off; press t to turn them on first.", "工具已停用；请先按 t 打开总开关。"),
    "m_on": ("Tools are on ({scope}).", "工具已打开（{scope}）。"),
    "m_off": ("All tools are off ({scope}).", "工具已关闭（{scope}）。"),
    "m_all_on": (
        "Everything is enabled ({scope}); its other lists are empty.",
        "已全部启用（{scope}），其他列表已清空。",
    ),
    "m_all_off": ("Everything is disabled ({scope}).", "已全部禁用（{scope}）。"),
    "m_reset_all": (
        "The lists of the {scope} settings are empty; defaults hold.",
        "{scope}设置的列表已清空，恢复默认。",
    ),
    "m_stay": (" {n} stay, decided elsewhere.", " 其中 {n} 个由别处决定。"),
    "m_all_off_ask": (
        "Disable all {n} tools in the {scope} settings?\n"
        "ToolSearch and ExecuteTool stay while any tool is deferred. u takes it back.",
        "在{scope}设置中禁用全部 {n} 个工具？\n只要还有延迟的工具，ToolSearch 和 ExecuteTool 就会保留。按 u 可撤销。",
    ),
    "m_undone": ("Taken back ({scope}).", "已撤销（{scope}）。"),
    "m_nothing_to_undo": ("There is nothing to take back.", "没有可撤销的更改。"),
    "m_restarting": ("Starting {server}.", "正在启动 {server}。"),
    "m_no_log": ("{server} has said nothing.", "{server} 没有输出。"),
    "m_stored_in": ("Each change is saved at once in {path}", "每项更改立即保存到 {path}"),
    "m_revoke_ask": (
        "Take back the permission for {tool}? It asks again next time.",
        "收回 {tool} 的权限？下次会再次询问。",
    ),
    "m_revoked": ("{tool} asks again next time.", "{tool} 下次会再次询问。"),
    "m_origin": ("Configured in {origin}.", "配置于 {origin}。"),
    "m_builtin": (
        "Caddie's own tools. Profile: {profile}.",
        "Caddie 自带的工具。配置档：{profile}。",
    ),
}


class Words:
    """`words("m_state", tool="Bash", …)`; a key that is not in the table is a mistake and raises KeyError."""

    def __init__(self, language: Language = "en") -> None:
        self.language = language
        self._column = 1 if language == "zh" else 0

    def __call__(self, key: str, **values: object) -> str:
        text = _TABLE[key][self._column]
        return text.format(**values) if values else text

    def scope(self, scope: str) -> str:
        """A scope this panel does not know by name is shown as it is."""
        return self(scope) if scope in _TABLE else scope

    def tools(self, number: int) -> str:
        return self("count_one") if number == 1 else self("count", n=number)


def language_of(environ: Mapping[str, str]) -> Language:
    """As programs do: LC_ALL, else LC_MESSAGES, else LANG."""
    chosen = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    return "zh" if chosen.lower().startswith("zh") else "en"
