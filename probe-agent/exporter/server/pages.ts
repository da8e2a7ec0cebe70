import { showHiddenInLines } from "#shared/text/hidden-characters.ts";
import { writeYaml } from "#shared/json/yaml.ts";
import type { Fields } from "#probe-agent/exporter/probe.ts";
import type { LogLine, PastProbe } from "#probe-agent/exporter/server/history.ts";

/** Maximum length of a value in a line of the log, in characters. */
const LONGEST_VALUE = 500;

/** Writes what `debug=true` answers: the log, the metrics and the module of a probe. */
export function writeDebug({ module, target, lines, metrics, options }: Omit<PastProbe, "id" | "success">): string {
  const log = lines.map((line) => `${writeLine(line, module, target)}\n`).join("");
  return showHiddenInLines(
    `Logs for the probe:\n${log}\n\n\nMetrics that would have been returned:\n${metrics}\n\n\n` +
      `Module configuration:\n${writeYaml(options ?? null)}`,
  );
}

/** Writes a line in logfmt, as the exporter does. */
function writeLine({ at, level, message, fields }: LogLine, module: string, target: string): string {
  const own = { ts: at.toISOString(), module, target, level, msg: message };
  const all: Fields = { ...own, ...fields };
  return Object.entries(all)
    .map(([name, value]) => `${name}=${quoteValue(String(value).slice(0, LONGEST_VALUE))}`)
    .join(" ");
}

function quoteValue(value: string): string {
  return /^[^\s"=\p{Cc}]+$/u.test(value) ? value : JSON.stringify(value);
}

/** Writes the first page: links and the recent probes. `prefix` is before every path. */
export function writeIndex(prefix: string, version: string, probes: readonly PastProbe[]): string {
  const rows = probes.map(({ id, module, target, success }) => {
    const result = success ? "Success" : "<strong>Failure</strong>";
    const cells = [escapeHtml(module), escapeHtml(target), result, `<a href="${prefix}/logs?id=${id}">Logs</a>`];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Blackbox exporter</title></head>
<body>
<h1>Blackbox exporter</h1>
<p>Vantage ${escapeHtml(version)}. Prometheus scrapes <code>${prefix}/probe?target=example.org&amp;module=http_2xx</code>; add <code>&amp;debug=true</code> for the log of a probe.</p>
<ul>
<li><a href="${prefix}/metrics">Metrics</a></li>
<li><a href="${prefix}/config">Configuration</a></li>
</ul>
<h2>Recent probes</h2>
<table border="1">
<thead><tr><th>Module</th><th>Target</th><th>Result</th><th>Debug</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text
    .slice(0, LONGEST_VALUE)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
