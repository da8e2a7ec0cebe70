import { renderAgo, renderSince } from "#control-plane/dashboard/frame/times.ts";
import type { MonitorPage } from "#control-plane/dashboard/monitor/head.ts";
import { writePercent } from "#control-plane/dashboard/monitor/latency.ts";
import { MONITOR } from "#control-plane/dashboard/strings/monitor.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";

const renderLabel: (tile: { readonly label: string }) => string = compileTemplate("<div><dt><%= it.label %></dt><dd>");
const renderText: (tile: { readonly text: string }) => string = compileTemplate("<%= it.text %>");
const NOBODY = `<a class="warn" href="#told">${MONITOR.toldNobody}</a>`;

/**
 * Renders since when a monitor is in its state, its last and its next check, and who gets its notices. `word`: its state.
 * `told`: by what people get notices, null: nobody gets them.
 */
export function renderGlance({ monitor, now, viewer }: MonitorPage, word: string, told: string | null): string {
  const { last_change_at: since, last_checked_at: checked, next_check_at: next, uptime, is_active: isActive } = monitor;
  const isChecked = monitor.heartbeat === null && monitor.composite === null;
  const never = isChecked && isActive ? renderText({ text: MONITOR.never }) : "";
  const secondsToNext = Math.max(0, Math.round((Date.parse(next ?? "") - now.getTime()) / 1_000));
  const tiles: readonly (readonly [label: string, value: string])[] = [
    [MONITOR.since(word), since === null || !isActive ? "" : renderSince(new Date(since), now, viewer)],
    [MONITOR.checked, checked === null ? never : renderAgo(new Date(checked), now, viewer)],
    [MONITOR.next, next === null ? "" : renderText({ text: MONITOR.nextIn(secondsToNext) })],
    [MONITOR.uptime, uptime.d1 === null ? "" : renderText({ text: writePercent(uptime.d1) })],
    [MONITOR.told, told === null ? NOBODY : renderText({ text: told })],
  ];
  const shown = tiles.filter(([, value]) => value !== "");
  return `<dl class="glance">${shown.map(([label, value]) => `${renderLabel({ label })}${value}</dd></div>`).join("")}</dl>`;
}
