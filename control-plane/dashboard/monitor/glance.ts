import { renderAgo, renderPlanned, renderSince } from "#control-plane/dashboard/frame/times.ts";
import type { MonitorPage } from "#control-plane/dashboard/monitor/head.ts";
import { writePercent } from "#control-plane/dashboard/monitor/latency.ts";
import { HEARTBEAT, MONITOR } from "#control-plane/dashboard/strings/monitor.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";

const renderLabel: (tile: { readonly label: string }) => string = compileTemplate("<div><dt><%= it.label %></dt><dd>");
const renderText: (tile: { readonly text: string }) => string = compileTemplate("<%= it.text %>");
const NOBODY = `<a class="warn" href="#told">${MONITOR.toldNobody}</a>`;

type Tile = readonly [label: string, value: string];

/**
 * Renders since when a monitor is in its state, its last and its next check, and who gets its notices. `word`: its state.
 * `told`: by what people get notices, null: nobody gets them.
 */
export function renderGlance(page: MonitorPage, word: string, told: string | null): string {
  const { monitor, now, viewer } = page;
  const { last_change_at: since, uptime, is_active: isActive } = monitor;
  const tiles: readonly Tile[] = [
    [MONITOR.since(word), since === null || !isActive ? "" : renderSince(new Date(since), now, viewer)],
    ...(monitor.heartbeat === null ? tilesOfChecks(page) : tilesOfPings(monitor.heartbeat, page)),
    [MONITOR.uptime, uptime.d1 === null ? "" : renderText({ text: writePercent(uptime.d1) })],
    [MONITOR.told, told === null ? NOBODY : renderText({ text: told })],
  ];
  const shown = tiles.filter(([, value]) => value !== "");
  return `<dl class="glance">${shown.map(([label, value]) => `${renderLabel({ label })}${value}</dd></div>`).join("")}</dl>`;
}

function tilesOfChecks({ monitor, now, viewer }: MonitorPage): readonly Tile[] {
  const { last_checked_at: checked, next_check_at: next, is_active: isActive } = monitor;
  const never = monitor.composite === null && isActive ? renderText({ text: MONITOR.never }) : "";
  const secondsToNext = Math.max(0, Math.round((Date.parse(next ?? "") - now.getTime()) / 1_000));
  return [
    [MONITOR.checked, checked === null ? never : renderAgo(new Date(checked), now, viewer)],
    [MONITOR.next, next === null ? "" : renderText({ text: MONITOR.nextIn(secondsToNext) })],
  ];
}

/** A heartbeat is not checked: it has pings, and one that is due. */
function tilesOfPings(
  {
    last_ping_at: pinged,
    run_started_at: started,
    deadline_at: late,
  }: NonNullable<MonitorPage["monitor"]["heartbeat"]>,
  { now, viewer }: MonitorPage,
): readonly Tile[] {
  const ago = (at: string | null): string => (at === null ? "" : renderAgo(new Date(at), now, viewer));
  const isLate = late !== null && Date.parse(late) <= now.getTime();
  return [
    [HEARTBEAT.ping, pinged === null ? renderText({ text: HEARTBEAT.noPing }) : ago(pinged)],
    [HEARTBEAT.running, ago(started)],
    [isLate ? HEARTBEAT.late : HEARTBEAT.due, late === null ? "" : renderPlanned(new Date(late), now, viewer)],
  ];
}
