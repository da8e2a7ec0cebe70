import { writeDuration } from "#shared/text/duration.ts";
import { renderTime } from "#control-plane/dashboard/frame/times.ts";
import { renderNextRuns } from "#control-plane/dashboard/monitor-form/next-runs.ts";
import type { MonitorPage } from "#control-plane/dashboard/monitor/head.ts";
import { HEARTBEAT } from "#control-plane/dashboard/strings/monitor.ts";
import { writeCronLine } from "#control-plane/heartbeats/cron-line.ts";
import type { ShownPing } from "#control-plane/heartbeats/shown-pings.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";

const renderAddress: (address: { readonly id: number; readonly url: string; readonly line: string }) => string =
  compileTemplate(`
<section class="card" id="address"><div class="field"><label for="ping-url">${HEARTBEAT.address}</label><p class="hint" id="h-ping-url">${HEARTBEAT.addressHint}</p>
<input id="ping-url" class="mono" readonly value="<%= it.url %>" aria-describedby="h-ping-url"></div>
<p><button type="button" data-copy="ping-url">${HEARTBEAT.copy}</button></p>
<h2>${HEARTBEAT.cron}</h2><pre id="cron-line" tabindex="0"><%= it.line %></pre>
<p class="row"><button type="button" data-copy="cron-line">${HEARTBEAT.copy}</button> <a class="button danger" href="/app/monitors/<%= it.id %>/rotate">${HEARTBEAT.rotate}</a></p></section>
`);

const PINGS_TOP = `<section class="card"><h2>${HEARTBEAT.log}</h2>`;

const TABLE_TOP = `<div class="scroll" role="group" tabindex="0" aria-label="${HEARTBEAT.log}"><table><thead><tr><th scope="col">${HEARTBEAT.time}</th><th scope="col">${HEARTBEAT.kind}</th><th scope="col" class="number">${HEARTBEAT.duration}</th><th scope="col" class="number">${HEARTBEAT.code}</th><th scope="col">${HEARTBEAT.from}</th><th scope="col">${HEARTBEAT.body}</th></tr></thead><tbody>`;

const renderPing: (ping: {
  readonly kind: string;
  readonly duration: string;
  readonly code: string;
  readonly from: string;
  readonly size: string;
  readonly body: string;
}) => string = compileTemplate(`
<td><%= it.kind %></td><td class="number"><%= it.duration %></td><td class="number"><%= it.code %></td><td><%= it.from %></td>
<td><% if (it.body !== "") { %><details><summary><%= it.size %></summary><pre><%= it.body %></pre></details><% } %></td></tr>
`);

/** Renders the address of a heartbeat for those who may change it, its next runs, and its newest pings. */
export function renderHeartbeat(page: MonitorPage): string {
  const { monitor, canWrite, now, viewer } = page;
  const { heartbeat, heartbeat_url: url } = monitor;
  if (heartbeat === null) return "";
  const address =
    canWrite && url !== null ? renderAddress({ id: monitor.id, url, line: writeCronLine(heartbeat, url) }) : "";
  const next = `<section class="card"><h2>${HEARTBEAT.next}</h2>${renderNextRuns(heartbeat, now, viewer)}</section>`;
  return `${address}${next}${renderPings(heartbeat.pings ?? [], page)}`;
}

function renderPings(pings: readonly ShownPing[], { viewer }: MonitorPage): string {
  if (pings.length === 0) return `${PINGS_TOP}<p>${HEARTBEAT.none}</p></section>`;
  const rows = pings.map(({ received_at: at, kind, duration_ms: ms, exit_code: code, remote_addr: from, ...ping }) => {
    const cells = renderPing({
      kind,
      duration: ms === null ? "" : ms < 1_000 ? `${ms} ms` : writeDuration(ms / 1_000),
      code: code === null ? "" : String(code),
      from,
      size: HEARTBEAT.octets(ping.body?.length ?? 0, ping.body_truncated),
      body: ping.body ?? "",
    });
    return `<tr><td>${renderTime(new Date(at), viewer)}</td>${cells}`;
  });
  return `${PINGS_TOP}${TABLE_TOP}${rows.join("")}</tbody></table></div></section>`;
}
