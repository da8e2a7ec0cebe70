/**
 * The tools, in the order that catalogues and docs show them. A new tool: its folder here with contract.ts
 * and presenter.ts, its implementation in probe-agent/tools/ and its line here; then `npm run tools` writes all lists of
 * tools. The compiler refuses a name without a contract, a presenter or an implementation.
 */
export const TOOL_NAMES = [
  "check",
  "dns",
  "ssl",
  "ip",
  "ping",
  "health",
  "cookie",
  "cors",
  "csp",
  "http-status",
  "redirects",
  "protocol",
  "mixed-content",
  "schema",
  "robots",
  "tech-detect",
  "og-preview",
  "cms",
  "url-expand",
  "resolve-url",
  "wayback",
  "security",
  "seo-audit",
  "ai-check",
  "carbon",
  "performance",
  "pagespeed",
  "mx",
  "dkim",
  "email-check",
  "email-header",
  "propagation",
  "smtp-test",
  "whois",
  "asn",
  "reverse-ip",
  "traceroute",
] as const;

/** One of the tools' names. */
export type ToolName = (typeof TOOL_NAMES)[number];
