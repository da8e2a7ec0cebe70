import { expect, it } from "vitest";
import * as incidents from "#control-plane/surfaces/dashboard/strings/incidents.ts";
import * as maintenance from "#control-plane/surfaces/dashboard/strings/maintenance.ts";
import * as form from "#control-plane/surfaces/dashboard/strings/monitor-form.ts";
import * as monitor from "#control-plane/surfaces/dashboard/strings/monitor.ts";
import * as monitors from "#control-plane/surfaces/dashboard/strings/monitors.ts";
import * as pages from "#control-plane/surfaces/dashboard/strings/status-pages.ts";

const ALL = { incidents, maintenance, form, monitor, monitors, pages };

/** Lists what the strings say of one thing of each kind, by their names. */
function saidOfOne(name: string, value: unknown): readonly (readonly [string, string])[] {
  if (typeof value === "function") {
    const given = name.endsWith("MAINTENANCE.covers") ? [1, []] : Array(value.length).fill(1);
    return [[name, String(Reflect.apply(value, null, given))]];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => saidOfOne(`${name}.${key}`, part));
}

it("no string of the dashboard has a plural after one", () => {
  const said = Object.entries(ALL).flatMap(([name, strings]) =>
    Object.entries(strings).flatMap(([key, value]) => {
      return key === "FIELD_WORDS" ? [] : saidOfOne(`${name}.${key}`, value);
    }),
  );
  expect(said.length).toBeGreaterThan(20);
  const plurals =
    /\b1 (?:\w+ )?(?:monitors|incidents|locations|characters|days|ones|pages|members|keys|checks|pings)\b/;
  expect(said.filter(([, text]) => plurals.test(text))).toEqual([]);
});
