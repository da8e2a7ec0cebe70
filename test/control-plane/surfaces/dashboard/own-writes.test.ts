import { describe, expect, it } from "vitest";
import { systemClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { openBrowser, signInOwner } from "#test/support/dashboard.ts";
import { attachIdle } from "#test/support/idle-agent.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const API = "/api/v4/monitors";
const LIST = "/app/monitors";
/** Where a monitor is chosen. */
const CHOICES = ["/app/status-pages/new", "/app/incidents/new"];

// A window covers from the moment of its write on: the replicas have one clock, not two estimates of the database's.
const overrides = { clock: systemClock };
const plane = await stopAfterAll(startControlPlane({ overrides }));
/** Another replica on the same database. */
const other = await stopAfterAll(startControlPlane({ overrides, databaseUrl: plane.databaseUrl }));
await stopAfterAll(attachIdle(plane, "eu-west"));
const account = await createWatchedAccount(plane, plane.app.sql, 1);
const { key } = account;
const { browser: owner } = await signInOwner(plane, "owner@example.com", { accountId: account.accountId });
/** The same session at the other replica. */
const elsewhere = openBrowser(other);
elsewhere.cookie = owner.cookie;

const write = async (method: string, path: string, body?: object) => {
  const answer = await plane.call(path, { method, key, ...(body === undefined ? {} : { body }) });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body.data as { readonly id: number; readonly ids: readonly number[] };
};
/** Returns on which of these pages, at both replicas, a text is seen. */
const seenOn = async (text: string, paths: readonly string[] = [LIST]): Promise<readonly boolean[]> => {
  const pages = paths.flatMap((path) => [owner.get(path), elsewhere.get(path)]);
  const answers = await Promise.all(pages);
  for (const { status, html } of answers) expect(status, html).toBe(200);
  return answers.map(({ html }) => html.includes(text));
};
const everywhere = (paths: readonly string[] = [LIST]) => paths.flatMap(() => [true, true]);
const nowhere = [false, false];

describe("a monitor that was just written", () => {
  it("is among the choices of every page at once, at every replica", async () => {
    await seenOn("", CHOICES);
    await write("POST", API, { url: "https://made.example.com", name: "Made-just-now" });
    expect(await seenOn("Made-just-now", CHOICES)).toEqual(everywhere(CHOICES));
  });

  it("is in the list as it is after a change, a change of many, an import and its deletion", async () => {
    const { id } = await write("POST", API, { url: "https://first.example.com", name: "First-name" });
    expect(await seenOn("First-name")).toEqual(everywhere());
    await write("PUT", `${API}?id=${id}`, { name: "Second-name" });
    expect([await seenOn("First-name"), await seenOn("Second-name")]).toEqual([nowhere, everywhere()]);
    await write("PUT", `${API}?action=bulk`, { ids: [id], set: { tags_add: ["tag-of-many"] } });
    expect(await seenOn("tag-of-many")).toEqual(everywhere());
    const monitors = [{ name: "Imported-name", url: "https://imported.example.com", check_type: "http" }];
    await write("POST", `${API}?action=import`, { version: 2, monitors });
    expect(await seenOn("Imported-name")).toEqual(everywhere());
    await write("DELETE", `${API}?id=${id}`);
    expect(await seenOn("Second-name")).toEqual(nowhere);
  });

  it("shows its maintenance at once, at every replica", async () => {
    const { id } = await write("POST", API, { url: "https://kept.example.com", name: "Kept-name" });
    const path = "/app/monitors?state=maintenance";
    expect(await seenOn("Kept-name", [path])).toEqual(nowhere);
    const always = { starts_at: "2020-01-01T00:00:00Z", rrule: "FREQ=DAILY", duration_seconds: 86_400 };
    await write("POST", "/api/v4/maintenance", { title: "Now", monitor_ids: [id], ...always });
    expect(await seenOn("Kept-name", [path])).toEqual(everywhere());
  });
});
