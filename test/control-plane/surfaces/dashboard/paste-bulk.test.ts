import { describe, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { fieldsOfForm, signInOwner } from "#test/support/dashboard.ts";
import { attachIdle } from "#test/support/idle-agent.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const HOSTILE = `"><script>alert(1)</script>`;

const plane = await stopAfterAll(startControlPlane());
await stopAfterAll(attachIdle(plane, "eu-west"));
const { accountId, key, ids } = await createWatchedAccount(plane, plane.app.sql, 3);
const { browser: owner } = await signInOwner(plane, "owner@example.com", { accountId });

interface Shown {
  readonly id: number;
  readonly name: string;
  readonly interval_minutes: number;
}

/** The monitors of the account, the newest first. */
const monitors = async (): Promise<readonly Shown[]> =>
  (await plane.call("/api/v4/monitors?per_page=100", { key })).body.data;

const namesOf = async () => (await monitors()).map(({ name }) => name);

describe("pasting of addresses", () => {
  it("refuses nothing, and more than fifty lines, and keeps what was typed", async () => {
    const lines = Array.from({ length: 51 }, (_, index) => `s${index}.example.com`).join("\n");
    const many = await owner.post("/app/monitors/paste", { lines, tags: HOSTILE, do: "try" });
    expect([many.status, many.html.includes("more than 50 lines")]).toEqual([400, true]);
    expect(fieldsOfForm(many.html, "/app/monitors/paste")).toMatchObject({ lines, tags: HOSTILE });
    expect(many.html).not.toContain("<script>alert");
    const none = await owner.post("/app/monitors/paste", { lines: " \n# a comment\n", do: "create" });
    expect([none.status, none.html.includes("Paste at least one address.")]).toEqual([400, true]);
  });

  it("creates the lines that are chosen, fifty at most, each as what its address is", async () => {
    const before = (await namesOf()).length;
    const lines = Array.from({ length: 50 }, (_, index) => `https://s${index}.example.com Site ${index}`).join("\n");
    const line = Array.from({ length: 50 }, (_, index) => String(index));
    const created = await owner.post("/app/monitors/paste", { lines, tags: "bulk, new", line, do: "create" });
    expect([created.status, created.location], created.html).toEqual([303, "/app/monitors?sort=newest&done=pasted"]);
    expect(await namesOf()).toHaveLength(before + 50);
    const mixed = "db.example.com:5432 Database\nexample.org\nexample.net Not chosen";
    await owner.post("/app/monitors/paste", { lines: mixed, line: ["0", "1"], do: "create" });
    expect((await monitors()).slice(0, 2)).toMatchObject([
      { check_type: "http", tags: [] },
      { name: "Database", url: "db.example.com", check_type: "port" },
    ]);
    expect(await namesOf()).not.toContain("Not chosen");
  });

  it("creates a line once, however often it is chosen", async () => {
    const before = (await namesOf()).length;
    const line = Array.from({ length: 900 }, () => "0");
    const created = await owner.post("/app/monitors/paste", { lines: "https://once.example.com", line, do: "create" });
    expect(created.status).toBe(303);
    expect(await namesOf()).toHaveLength(before + 1);
  });

  it("creates all or none, and says which line is refused", async () => {
    const before = await namesOf();
    const lines = `https://good.example.com\nhttp://127.1.2.3.4.5/`;
    const refused = await owner.post("/app/monitors/paste", { lines, line: ["0", "1"], do: "create" });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(fieldsOfForm(refused.html, "/app/monitors/paste")["lines"]).toBe(lines);
    expect(await namesOf()).toEqual(before);
  });

  it("shows for each line whether it can be a monitor, with its name escaped", async () => {
    const tried = await owner.post("/app/monitors/paste", { lines: `not/a//host ${HOSTILE}`, do: "try" });
    expect([tried.status, tried.html.includes("Not possible")], tried.html).toEqual([200, true]);
    expect(tried.html).not.toContain("<script>alert");
    expect(tried.html).not.toMatch(/type="checkbox"/);
  });
});

describe("the change of many monitors", () => {
  it("shows what changes, and changes it when it is confirmed", async () => {
    const given = { ids: ids.join(","), interval_minutes: "7", tags_add: "seven" };
    const plan = await owner.post("/app/monitors/bulk", given);
    expect([plan.status, plan.html.includes("<b>3 monitors change</b>, 0 stay")], plan.html).toEqual([200, true]);
    const minutes = async () =>
      (await monitors()).filter(({ id }) => ids.includes(id)).map((one) => one.interval_minutes);
    expect(await minutes()).toEqual([1, 1, 1]);
    const fields = fieldsOfForm(plan.html, "/app/monitors/bulk");
    const applied = await owner.post("/app/monitors/bulk", { ...fields, do: "apply" });
    expect([applied.status, applied.location]).toEqual([303, "/app/monitors?done=bulk"]);
    expect(await minutes()).toEqual([7, 7, 7]);
    const again = await owner.post("/app/monitors/bulk", given);
    expect(again.html).toContain("<b>0 monitors change</b>, 3 stay as they are");
    expect(again.html).not.toContain('value="apply"');
  });

  it("takes the monitors of a filter of the list", async () => {
    const page = await owner.get("/app/monitors/bulk?tag=seven");
    const found = fieldsOfForm(page.html, "/app/monitors/bulk")["ids"]?.split(",").map(Number);
    expect(new Set(found)).toEqual(new Set(ids));
  });

  it("says what is refused and keeps what was typed", async () => {
    const typed = { ids: ids.join(","), interval_minutes: "0", tags_add: HOSTILE };
    const refused = await owner.post("/app/monitors/bulk", { ...typed, do: "apply" });
    expect(refused.status).toBe(400);
    expect(fieldsOfForm(refused.html, "/app/monitors/bulk")).toMatchObject(typed);
    expect(refused.html).not.toContain("<script>alert");
    const none = await owner.post("/app/monitors/bulk", { ids: "", interval_minutes: "7", do: "apply" });
    expect(none.status).toBe(400);
    const odd = await owner.post("/app/monitors/bulk", { ids: "x,1e3,-4", interval_minutes: "7", do: "apply" });
    expect(odd.status).toBe(400);
  });
});
