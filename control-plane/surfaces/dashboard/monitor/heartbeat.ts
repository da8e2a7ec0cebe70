import { renderNextRuns } from "#control-plane/surfaces/dashboard/monitor-form/next-runs.ts";
import type { MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { renderPingList } from "#control-plane/surfaces/dashboard/monitor/ping-log.ts";
import { HEARTBEAT, PINGS } from "#control-plane/surfaces/dashboard/strings/monitor.ts";
import { writeCronLine, writeJobScript } from "#control-plane/watching/heartbeats/cron-line.ts";
import type { ShownPing } from "#control-plane/watching/heartbeats/shown-pings.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

const renderAddress: (address: {
  readonly id: number;
  readonly url: string;
  readonly line: string;
  readonly script: string;
}) => string = compileTemplate(`
<section class="card" id="address"><div class="field"><label for="ping-url">${HEARTBEAT.address}</label><p class="hint" id="h-ping-url">${HEARTBEAT.addressHint}</p>
<input id="ping-url" class="mono" readonly value="<%= it.url %>" aria-describedby="h-ping-url"></div>
<p><button type="button" data-copy="ping-url">${HEARTBEAT.copy}</button></p>
<h2>${HEARTBEAT.cron}</h2><pre id="cron-line" class="wrapped"><%= it.line %></pre>
<p><button type="button" data-copy="cron-line">${HEARTBEAT.copy}</button></p>
<details><summary>${HEARTBEAT.script}</summary><p class="faint">${HEARTBEAT.scriptHint}</p><pre id="job-script" class="wrapped"><%= it.script %></pre>
<p><button type="button" data-copy="job-script">${HEARTBEAT.copy}</button></p></details>
<p><a class="button danger" href="/app/monitors/<%= it.id %>/rotate">${HEARTBEAT.rotate}</a></p></section>
`);

const PINGS_TOP = `<section class="card" id="pings"><h2>${HEARTBEAT.log}</h2>`;

const renderAll: (all: { readonly id: number }) => string = compileTemplate(
  `<p><a href="/app/monitors/<%= it.id %>/pings">${PINGS.all}</a></p>`,
);

/** Renders the address of a heartbeat for those who may change it, its next runs, and its newest pings. */
export function renderHeartbeat(page: MonitorPage): string {
  const { monitor, canWrite, now, viewer } = page;
  const { heartbeat, heartbeat_url: url } = monitor;
  if (heartbeat === null) return "";
  const address =
    canWrite && url !== null
      ? renderAddress({
          id: monitor.id,
          url,
          line: writeCronLine(heartbeat, url),
          script: writeJobScript(heartbeat, url),
        })
      : "";
  const next = `<section class="card"><h2>${HEARTBEAT.next}</h2>${renderNextRuns(heartbeat, now, viewer)}</section>`;
  return `${address}${next}${renderPings(heartbeat.pings ?? [], page)}`;
}

function renderPings(pings: readonly ShownPing[], { monitor, viewer }: MonitorPage): string {
  const shown =
    pings.length === 0
      ? `<p>${PINGS.noneYet}</p>`
      : `${renderPingList(pings, { viewer })}${renderAll({ id: monitor.id })}`;
  return `${PINGS_TOP}${shown}</section>`;
}
