import { renderNextRuns } from "#control-plane/surfaces/dashboard/monitor-form/next-runs.ts";
import type { MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { renderPingList } from "#control-plane/surfaces/dashboard/monitor/ping-log.ts";
import { writeCronLine, writeJobScript } from "#control-plane/watching/heartbeats/cron-line.ts";
import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** Renders the address of a heartbeat for those who may change it, its next runs, and its newest pings; null if it is none. */
export function renderHeartbeat({ monitor, canWrite, now, viewer }: MonitorPage): Html | null {
  const { id, heartbeat, heartbeat_url: url } = monitor;
  if (heartbeat === null) return null;
  const pings = heartbeat.pings ?? [];
  return html`
    ${canWrite && url !== null && renderAddress(id, url, heartbeat)}
    <section class="card"><h2>Next runs</h2>${renderNextRuns(heartbeat, now, viewer)}</section>
    <section class="card" id="pings">
      <h2>Newest pings</h2>
      ${
        pings.length === 0
          ? html`<p>No ping has come yet.</p>`
          : html`${renderPingList(pings, viewer)}<p><a href="/app/monitors/${id}/pings">All pings</a></p>`
      }
    </section>`;
}

function renderAddress(id: number, url: string, heartbeat: HeartbeatSettings): Html {
  return html`
    <section class="card" id="address">
      <div class="field">
        <label for="ping-url">Address that the job calls after each run</label>
        <p class="hint" id="h-ping-url">Keep it secret: with it, anybody can report for the job. At its end, /start reports a start, /fail a failure, /log a note, and a number such as /3 the exit code. A body that is sent with it is shown below.</p>
        <input id="ping-url" class="mono" readonly value="${url}" aria-describedby="h-ping-url">
      </div>
      <p><button type="button" data-copy="ping-url">Copy</button></p>
      <h2>Line for a crontab</h2>
      <pre id="cron-line" class="wrapped">${writeCronLine(heartbeat, url)}</pre>
      <p><button type="button" data-copy="cron-line">Copy</button></p>
      <details>
        <summary>Script that also reports its start and its output</summary>
        <p class="faint">The start gives each run its duration, and the output is shown with the ping.</p>
        <pre id="job-script" class="wrapped">${writeJobScript(heartbeat, url)}</pre>
        <p><button type="button" data-copy="job-script">Copy</button></p>
      </details>
      <p><a class="button danger" href="/app/monitors/${id}/rotate">Replace the address</a></p>
    </section>`;
}
