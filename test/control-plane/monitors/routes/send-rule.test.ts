import { afterAll, describe, expect, it } from "vitest";
import { ok } from "#shared/contracts/outcome.ts";
import type { Job } from "#shared/protocol/probe.ts";
import type { Answer } from "#test/support/control-plane.ts";
import { startMonitorService } from "#test/support/monitor-service.ts";
import { GOOD } from "#test/control-plane/monitors/try/world.ts";

const URL = "/api/v4/monitors";
const PORTS = [21, 24, 25, 110, 119, 143, 366, 465, 587, 993, 995, 2525, 2526];
/** A private range of the second service's agent; it also has one of the public internet. */
const LISTED = ["10.0.0.0/8", "93.184.0.0/16"];

const jobs: Job[] = [];

/** A service whose agents list nothing, and one of whose agents lists ranges. */
const [plain, listing] = await Promise.all([startMonitorService(), startMonitorService()]);
const work = (job: Job) => {
  jobs.push(job);
  return ok(GOOD);
};
for (const service of [plain, listing]) service.attach("eu-west", { allowTargets: [] }, work);
listing.attach("lab", { allowTargets: LISTED }, work);
const [key, listingKey] = await Promise.all([plain.createKey("captain"), listing.createKey("captain")]);
afterAll(() => Promise.all([plain.stop(), listing.stop()]));

const TCP = { check_type: "tcp", tcp: { send: "MAIL FROM:<a@example.com>\r\n" } };
const post = (url: string, given: object = {}, query = "") =>
  plain.call(URL + query, { key, body: { ...TCP, url, locations: ["eu-west"], ...given } });
const outcomeOf = ({ status, body }: Answer) =>
  status < 300 ? status : [status, body.error["code"], body.error["field"]];
const REFUSED = [400, "target_not_allowed", "tcp.send"];
const change = (id: number, body: object, query = "") =>
  plain.call(`${URL}?id=${id}${query}`, { key, method: "PUT", body });
const warningsOf = ({ body }: Answer) =>
  ((body.meta["warnings"] ?? []) as readonly { parameter: string }[]).map(({ parameter }) => parameter);

/** A monitor of an earlier release that sends its text to the port of mail. */
async function createOld(): Promise<number> {
  const { body } = await post("mail.example.com:9000");
  const { id } = body.data as { readonly id: number };
  await plain.app.sql`
    update monitors set url = 'mail.example.com:25', settings = (settings::jsonb #- '{tcp,send_limited}')::text where id = ${id}`;
  return id;
}

describe("a text of one's own", () => {
  it.each(PORTS)("to port %d of a server on the internet is refused at the creation and at a try", async (port) => {
    for (const host of ["mail.example.com", "93.184.216.34", "[2606:2800:220:1::1]", "0x5d.184.216.34"]) {
      expect(outcomeOf(await post(`${host}:${port}`)), host).toEqual(REFUSED);
      expect(outcomeOf(await post(`tcp://${host}:${port}`, {}, "?action=try")), host).toEqual(REFUSED);
    }
  });

  it("is refused in hexadecimal as well", async () => {
    const tcp = { send_hex: "4d41494c 0d0a" };
    expect(outcomeOf(await post("mail.example.com:25", { tcp }))).toEqual([400, "target_not_allowed", "tcp.send_hex"]);
    expect(outcomeOf(await post("mail.example.com:26", { tcp }))).toBe(201);
  });

  it("to another port, and no text, are taken, and so is a preset", async () => {
    expect(outcomeOf(await post("mail.example.com:26"))).toBe(201);
    expect(outcomeOf(await post("mail.example.com:25", { tcp: { send: null, expect: "220" } }))).toBe(201);
    expect(outcomeOf(await post("mail.example.com:25", { tcp: { preset: "smtp" } }))).toBe(201);
  });

  it("is refused by a change of the text, of the target, of many, by an import and by the try of a change", async () => {
    const { id } = (await post("mail.example.com:25", { name: "A", tcp: {} })).body.data as { readonly id: number };
    const { id: other } = (await post("mail.example.com:26")).body.data as { readonly id: number };
    expect(outcomeOf(await change(id, { tcp: TCP.tcp }))).toEqual(REFUSED);
    expect(outcomeOf(await change(other, { url: "mail.example.com:587", tcp: TCP.tcp }))).toEqual(REFUSED);
    const tried = await plain.call(`${URL}?action=try&id=${id}`, { key, body: { tcp: TCP.tcp } });
    expect(outcomeOf(tried)).toEqual(REFUSED);
    const rows = [{ name: "A", ...TCP, url: "mail.example.com:25", locations: ["eu-west"] }];
    const imported = await plain.call(`${URL}?action=import`, { key, body: { version: 1, monitors: rows } });
    expect([imported.status, imported.text]).toEqual([400, expect.stringContaining("tcp.send")]);
  });

  it("goes to a literal that an agent lists, and to a name if an agent lists ranges: the agent decides on its addresses", async () => {
    const create = (url: string) => listing.call(URL, { key: listingKey, body: { ...TCP, url, locations: ["lab"] } });
    expect(outcomeOf(await create("10.1.2.3:25"))).toBe(201);
    expect(outcomeOf(await create("93.184.216.34:25"))).toBe(201);
    expect(outcomeOf(await create("198.41.0.4:25"))).toEqual(REFUSED);
    const made = await create("mail.example.com:25");
    expect(outcomeOf(made)).toBe(201);
    expect(made.body.data["tcp"]).toMatchObject({ send: "****", send_limited: true });
    jobs.length = 0;
    const body = { ...TCP, url: "mail.example.com:25", locations: ["lab"] };
    expect(outcomeOf(await listing.call(`${URL}?action=try`, { key: listingKey, body }))).toBe(200);
    expect(JSON.parse(jobs[0]?.params ?? "")).toMatchObject({ port: 25, send_limited: true });
  });

  it("begins where an agent lists the address, if its user names no location", async () => {
    const body = { ...TCP, url: "93.184.216.34:25" };
    const made = await listing.call(URL, { key: listingKey, body });
    expect(made.body.data["locations"]).toEqual(["lab"]);
  });
});

describe("a monitor of an earlier release with such a text", () => {
  it("goes on with a warning, also after changes of other fields, until its text or its target is changed", async () => {
    const id = await createOld();
    expect(warningsOf(await plain.call(`${URL}?id=${id}`, { key }))).toEqual(["tcp.send"]);
    const changed = await change(id, { name: "Other", tcp: { send: "****", expect: "250" } });
    expect([outcomeOf(changed), warningsOf(changed)]).toEqual([200, ["tcp.send"]]);
    expect(changed.body.data["tcp"]).toMatchObject({ send_limited: false });
    const whole = (await plain.call(`${URL}?id=${id}`, { key })).body.data as object;
    expect(outcomeOf(await change(id, whole))).toBe(200);
    jobs.length = 0;
    expect(outcomeOf(await plain.call(`${URL}?action=try&id=${id}`, { key, body: {} }))).toBe(200);
    expect(JSON.parse(jobs[0]?.params ?? "")).toMatchObject({ send: TCP.tcp.send, send_limited: false });
    expect(outcomeOf(await change(id, { tcp: { send: "DATA\r\n" } }))).toEqual(REFUSED);
    expect(outcomeOf(await change(id, { url: "mail.example.com:587", tcp: TCP.tcp }))).toEqual(REFUSED);
    const free = await change(id, { url: "mail.example.com:26", tcp: TCP.tcp });
    expect([outcomeOf(free), warningsOf(free)]).toEqual([200, []]);
    expect(outcomeOf(await change(id, { url: "mail.example.com:25", tcp: TCP.tcp }))).toEqual(REFUSED);
  });

  it("is kept by the import of its own export, and cannot be set by a field", async () => {
    const id = await createOld();
    await change(id, { name: "Kept" });
    const exported = await plain.call(`${URL}?action=export`, { key });
    const { monitors } = exported.body.data as { readonly monitors: readonly { readonly name: string }[] };
    const rows = monitors.filter(({ name }) => name === "Kept");
    const imported = await plain.call(`${URL}?action=import`, { key, body: { version: 2, monitors: rows } });
    expect(imported.body.data).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
    const { body } = await plain.call(`${URL}?id=${id}`, { key });
    expect(body.data["tcp"]).toMatchObject({ send: "****", send_limited: false });
    expect(outcomeOf(await post("mail.example.com:25", { tcp: { ...TCP.tcp, send_limited: false } }))).toEqual(REFUSED);
  });
});
