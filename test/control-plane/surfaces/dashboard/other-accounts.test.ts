import { expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { noteDashboardRoutes } from "#test/support/dashboard-routes.ts";
import { fillAccount, pathsOf, readAll } from "#test/support/dashboard-world.ts";
import { readForms, type FoundForm } from "#test/support/hostile-input.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const SECRET_NAME = "Only-of-the-other-account";
/** Fields that name things by their ids. */
const OF_IDS = /^(?:ids|monitor|add|monitor_ids|page_ids|depends_on|composite\.monitor_ids|window|remove|id|from)$/;

const routes = noteDashboardRoutes();
const clock = createManualClock(new Date());

const plane = await stopAfterAll(startControlPlane({ overrides: { clock } }));
const other = await fillAccount(plane, "other", SECRET_NAME);
const own = await fillAccount(plane, "own", "own");

/** Every page of the own account. */
async function everyPage(): Promise<readonly { readonly path: string; readonly html: string }[]> {
  const pages: { path: string; html: string }[] = [];
  for (const { url } of routes.filter(({ method }) => method === "GET"))
    for (const path of pathsOf(url, own)) {
      clock.advance(250);
      pages.push({ path, html: (await own.owner.get(path)).html });
    }
  return pages;
}

it("no field of a form shows or changes what another account has", async () => {
  const before = await readAll(plane, other);
  const forms = new Map<string, FoundForm>();
  for (const { html } of await everyPage())
    for (const form of readForms(html)) forms.set(`${form.action} ${String(form.fields["check_type"] ?? "")}`, form);
  const ids = [...Object.values(other.monitors), other.incidentId, other.pageId].map(String);
  const shown: object[] = [];
  let sent = 0;
  for (const { action, fields, names } of forms.values())
    for (const name of names.filter((one) => OF_IDS.test(one)))
      for (const buttons of ["", "save", "create", "apply", "add"]) {
        clock.advance(250);
        const { _csrf: _own, ...usual } = fields;
        const value = name === "ids" || name.includes("depends") || name.includes("composite") ? ids.join(",") : ids;
        const filled = { tags_add: "taken", title: "Taken", text: "Taken", slug: `taken-${sent}`, is_active: "no" };
        const given = Object.fromEntries(Object.entries(filled).filter(([one]) => names.includes(one)));
        const { html } = await own.owner.post(action, { ...usual, ...given, [name]: value, do: buttons });
        if (html.includes(SECRET_NAME)) shown.push({ action, name, buttons });
        sent += 1;
      }
  expect(sent).toBeGreaterThan(50);
  for (const id of ids)
    for (const path of [
      `/app/monitors/new?from=${id}`,
      `/app/incidents/new?monitor=${id}`,
      `/app/incidents?monitor=${id}`,
    ]) {
      clock.advance(250);
      if ((await own.owner.get(path)).html.includes(SECRET_NAME)) shown.push({ path });
    }
  // Nor does what was stored on the way.
  for (const { path, html } of await everyPage()) if (html.includes(SECRET_NAME)) shown.push({ path });
  expect(shown).toEqual([]);
  expect(await readAll(plane, other)).toEqual(before);
});
