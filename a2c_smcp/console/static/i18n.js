// The console's own words. What comes from documents and tools is shown as it is.

const WORDS = {
  en: {
    skip: "Skip to content", servers: "Servers", tools: "Tools", desktop: "Desktop", documents: "Documents", calls: "Calls",
    approvals: "Approvals", language: "中文", dark: "Dark", light: "Light", offline: "The Computer does not answer",
    noServers: "No MCP server is configured.", noTools: "No tool is offered.", noWindows: "No window is open.",
    noDocuments: "No document was found.", noCalls: "No tool was called yet.", noApprovals: "Nothing waits for you.",
    restart: "Restart", enable: "Enable", disable: "Disable", advice: "What to do", restarts: "{0} restarts",
    call: "Call", calling: "Calling…", search: "Search", type: "Type", all: "all types", found: "{0} documents",
    pages: "{0} pages", page: "Page {0}", elements: "{0} elements", back: "Back", previous: "Previous page",
    next: "Next page", result: "Result", arguments: "Arguments", failed: "The tool failed", seconds: "{0} s",
    waiting: "{0} call waits for your consent", waitingMany: "{0} calls wait for your consent", look: "Look",
    once: "Allow once", always: "Always allow", refuse: "Refuse", wants: "{0} wants to run {1}", on: "on {0}",
    left: "{0} s left", expired: "expired", when: "When", tool: "Tool", agent: "Agent", state: "State", time: "Time",
    filterTools: "Filter tools", json: "As JSON", missing: "is needed", badJson: "is no JSON", more: "Show more",
    unavailable: "Not reachable now: {0}", noPicture: "This page has no picture.", highlight: "Show on the page",
    picture: "Picture of the page", note: "Note", conn: { joined: "in {0}", connected: "connected", connecting: "connecting",
    waiting: "waiting to reconnect", offline: "offline", none: "not connected" },
    stages: { asked: "waits for consent", started: "running", progress: "running", done: "done", failed: "failed",
    timed_out: "timed out", cancelled: "cancelled", refused: "refused" },
    states: { running: "running", starting: "starting", waiting: "waiting", failed: "failed", stopped: "stopped", disabled: "disabled",
    ending: "ending" },
  },
  zh: {
    skip: "跳到内容", servers: "服务器", tools: "工具", desktop: "桌面", documents: "文档", calls: "调用记录",
    approvals: "审批", language: "English", dark: "深色", light: "浅色", offline: "Computer 没有响应",
    noServers: "没有配置 MCP 服务器。", noTools: "没有可用的工具。", noWindows: "没有打开的窗口。",
    noDocuments: "没有找到文档。", noCalls: "还没有调用过工具。", noApprovals: "没有待审批的调用。",
    restart: "重新启动", enable: "启用", disable: "停用", advice: "建议", restarts: "已重启 {0} 次",
    call: "调用", calling: "正在调用…", search: "搜索", type: "类型", all: "全部类型", found: "{0} 个文档",
    pages: "{0} 页", page: "第 {0} 页", elements: "{0} 个元素", back: "返回", previous: "上一页",
    next: "下一页", result: "结果", arguments: "参数", failed: "工具执行失败", seconds: "{0} 秒",
    waiting: "有 {0} 个调用等待您同意", waitingMany: "有 {0} 个调用等待您同意", look: "查看",
    once: "允许一次", always: "始终允许", refuse: "拒绝", wants: "{0} 想运行 {1}", on: "位于 {0}",
    left: "剩余 {0} 秒", expired: "已过期", when: "时间", tool: "工具", agent: "Agent", state: "状态", time: "用时",
    filterTools: "筛选工具", json: "以 JSON 填写", missing: "为必填项", badJson: "不是有效的 JSON", more: "显示更多",
    unavailable: "暂时无法访问：{0}", noPicture: "此页没有图像。", highlight: "在页面上显示",
    picture: "页面图像", note: "提示", conn: { joined: "位于 {0}", connected: "已连接", connecting: "正在连接",
    waiting: "等待重连", offline: "离线", none: "未连接" },
    stages: { asked: "等待同意", started: "运行中", progress: "运行中", done: "完成", failed: "失败",
    timed_out: "超时", cancelled: "已取消", refused: "已拒绝" },
    states: { running: "运行中", starting: "启动中", waiting: "等待中", failed: "失败", stopped: "已停止", disabled: "已停用",
    ending: "正在结束" },
  },
};

let language = localStorage.getItem("language") || (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");

export function current() {
  return language;
}

export function toggle() {
  language = language === "en" ? "zh" : "en";
  localStorage.setItem("language", language);
}

export function t(key, ...values) {
  let text = key.split(".").reduce((found, part) => found?.[part], WORDS[language]) ?? key.split(".").at(-1);
  values.forEach((value, index) => { text = text.replace(`{${index}}`, value); });
  return text;
}
