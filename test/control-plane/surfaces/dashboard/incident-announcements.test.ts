import { expect, it } from "vitest";
import { openBrowser, PASSWORD, startPath, type FormFields } from "#test/support/dashboard.ts";
import { BASE, startSubscriberWorld } from "#test/support/page-subscribers.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const READER = "reader@example.com";

const world = await stopAfterAll(startSubscriberWorld());
const { body } = await world.plane.call("/api/v4/account", { key: world.key });
const { id } = body.data as { id: number };
const owner = openBrowser(world.plane);
await post(await startPath(world.plane, id), { email: "owner@example.com", password: PASSWORD });

/** Sends a form of the service's own address. */
async function post(path: string, fields: FormFields): Promise<string> {
  if (owner.cookie !== null) await owner.get("/app/incidents/new");
  const { status, location, html } = await owner.post(path, fields, { origin: BASE });
  expect([status, html]).toEqual([303, ""]);
  return location ?? "";
}

it("what a member publishes reaches the subscribers of the page once, and what is not public does not", async () => {
  const { slug, pageId } = await world.createPage();
  await world.subscribeAndConfirm(slug, READER);
  const opened = await post("/app/incidents/new", {
    title: "Slow payments",
    text: "We look into it.\r\nMore soon.",
    status: "investigating",
    impact: "minor",
    public: "yes",
    page_ids: [String(pageId)],
  });
  const path = opened.replace(/\?.*/, "");
  const first = await world.mailTo(READER, 1);
  expect(first.header("subject")).toBe("[Example Shop] Slow payments: investigating");
  expect(first.text).toContain("We look into it.\nMore soon.");

  await post(`${path}/note`, { text: "a note" });
  await post(`${path}/publish`, { status: "identified", text: "for us only" });
  await post(`${path}/publish`, { status: "identified", text: "The cause is known.\r\nIt is a disk.", public: "yes" });
  const second = await world.mailTo(READER, 2);
  expect(second.header("subject")).toBe("[Example Shop] Slow payments: identified");
  expect(second.text).toContain("The cause is known.\nIt is a disk.");
  await post(`${path}/acknowledge`, { acknowledged: "yes" });
  await post(`${path}/resolve`, {});
  expect((await world.mailTo(READER, 3)).header("subject")).toBe("[Example Shop] Slow payments: resolved");
  await world.untilSent();
  expect(world.mailsTo(READER)).toHaveLength(4);
  const shown = (await world.plane.call(`/status/${slug}`)).text;
  expect(shown).toContain("The cause is known.");
  expect(shown).not.toMatch(/for us only|a note|owner@example\.com/);
});

it("a private incident is announced when its first public update is published", async () => {
  const { slug, pageId } = await world.createPage();
  await world.subscribeAndConfirm(slug, "other@example.com");
  const opened = await post("/app/incidents/new", {
    title: "Slow search",
    text: "internal",
    status: "investigating",
    impact: "none",
    page_ids: [String(pageId)],
  });
  const path = opened.replace(/\?.*/, "");
  await post(`${path}/publish`, { status: "monitoring", text: "Search was slow.", public: "yes" });
  const mail = await world.mailTo("other@example.com", 1);
  expect(mail.text).toContain("Search was slow.");
  await world.untilSent();
  expect(world.mailsTo("other@example.com")).toHaveLength(2);
  expect((await world.plane.call(`/status/${slug}`)).text).not.toContain("internal");
});

it("an update reaches the subscribers of a page that is chosen with it", async () => {
  const first = await world.createPage();
  const added = await world.createPage();
  await world.subscribeAndConfirm(first.slug, "first@example.com");
  await world.subscribeAndConfirm(added.slug, "added@example.com");
  const opened = await post("/app/incidents/new", {
    title: "Slow images",
    text: "We look into it.",
    status: "investigating",
    impact: "minor",
    public: "yes",
    page_ids: [String(first.pageId)],
  });
  const path = opened.replace(/\?.*/, "");
  await world.mailTo("first@example.com", 1);
  expect((await world.plane.call(`/status/${added.slug}`)).text).not.toContain("Slow images");
  await post(`${path}/publish`, {
    status: "identified",
    text: "The cause is known.",
    public: "yes",
    pages: "shown",
    page_ids: [String(first.pageId), String(added.pageId)],
  });
  expect((await world.mailTo("added@example.com", 1)).text).toContain("The cause is known.");
  expect((await world.mailTo("first@example.com", 2)).text).toContain("The cause is known.");
  await expect.poll(async () => (await world.plane.call(`/status/${added.slug}`)).text).toContain("Slow images");
});
