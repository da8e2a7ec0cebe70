import { expect, it } from "vitest";
import type { Row } from "#shared/client/apply/document.ts";
import { bodyOf, describeChanges, planWebhooks } from "#shared/client/apply/webhooks/plan.ts";
import { ownWebhooks } from "#shared/client/apply/webhooks/rows.ts";

const MONITORS = new Map([
  [1, "Shop"],
  [2, "Mail"],
]);

/** A webhook as the service lists it. */
const LISTED = {
  id: 7,
  name: "a",
  url: "https://example.com/hook",
  secret: "whsec_****x9Q=",
  events: ["monitor.down", "monitor.up"],
  filter: { monitor_ids: [1, 2, 3], tags: ["web"] },
  headers: { Authorization: "****" },
  format: "standard",
  format_options: {},
  managed_by: null,
  is_active: true,
  inactive_reason: null,
};
const SLACK = { ...LISTED, url: "https://hooks.slack.com/services/secret", format: "slack" };
const PHONE = { ...LISTED, format: "pushover", format_options: { token: "****", user: "****", priority: "1" } };

/** Plans one row for an account with one webhook. */
function planOf(row: Row, listed: Row | undefined = LISTED) {
  const own = ownWebhooks([listed], MONITORS);
  return planWebhooks([{ name: "a", ...row }], { own, monitors: new Set(MONITORS.values()), pruned: null });
}

/** A row, and the webhook that is listed if it is another one. */
type Unchanged = readonly [what: string, row: Row, listed?: Row];
/** A row, the fields that differ for the service, and how they are shown. */
type Changed = readonly [what: string, row: Row, names: readonly string[], changes: readonly object[], listed?: Row];

const UNCHANGED: readonly Unchanged[] = [
  ["no property", {}],
  ["the address", { url: LISTED.url }],
  ["a masked address", { url: "https://hooks.slack.com/****" }, SLACK],
  ["a masked query", { url: "https://example.com/hook?****" }, { ...LISTED, url: "https://example.com/hook?a=b" }],
  ["the whole address of a provider", { url: SLACK.url }, SLACK],
  ["a masked secret", { secret: "whsec_****x9Q=" }],
  ["events in another order", { events: ["monitor.up", "monitor.down"] }],
  [
    "a filter in another order, without a monitor that is gone",
    { filter: { monitors: ["Mail", "Shop"], tags: ["web"] } },
  ],
  ["masked header fields", { headers: { Authorization: "****" } }],
  ["a number as an option", { format_options: { token: "****", user: "****", priority: 1 } }, PHONE],
  [
    "active, if only the plan makes it inactive",
    { is_active: true },
    { ...LISTED, is_active: false, inactive_reason: "plan_limit" },
  ],
];

it.each(UNCHANGED.map(([what, row, listed]) => ({ what, row, listed })))("$what is no change", ({ row, listed }) => {
  expect(planOf(row, listed)).toMatchObject({ changed: [], unchanged: [{ title: "a" }], problems: [] });
});

const CHANGED: readonly Changed[] = [
  [
    "an address",
    { url: "https://example.com/b" },
    ["url"],
    [{ field: "url", before: LISTED.url, after: "https://example.com/b" }],
  ],
  [
    "that of a provider",
    { url: "https://hooks.slack.com/services/b" },
    ["url"],
    [{ field: "url", secret: "changed" }],
    SLACK,
  ],
  ["one with a query", { url: "https://example.com/b?c=d" }, ["url"], [{ field: "url", secret: "changed" }]],
  [
    "one of another origin, which does not get the secrets",
    { url: "https://example.org/" },
    ["url", "headers.authorization"],
    [{ field: "url" }, { field: "headers.Authorization", secret: "removed" }],
  ],
  ["a secret", { secret: "another-secret" }, ["secret"], [{ field: "secret", secret: "changed" }]],
  ["all events", { events: null }, ["events"], [{ field: "events", before: LISTED.events, after: null }]],
  [
    "no filter",
    { filter: null },
    ["filter"],
    [{ field: "filter", before: { monitors: ["Shop", "Mail"], tags: ["web"] }, after: null }],
  ],
  ["a filter without tags", { filter: { monitors: ["Shop", "Mail"] } }, ["filter"], [{ field: "filter" }]],
  [
    "a value of a header field, whatever its case",
    { headers: { authorization: "b" } },
    ["headers.Authorization"],
    [{ field: "headers.authorization", secret: "changed" }],
  ],
  [
    "header fields",
    { headers: { "X-A": "b" } },
    ["headers.authorization", "headers.x-a"],
    [
      { field: "headers.X-A", secret: "set" },
      { field: "headers.Authorization", secret: "removed" },
    ],
  ],
  [
    "options",
    { format_options: { token: "c", user: "****", priority: 0 } },
    ["format_options.priority", "format_options.token"],
    [
      { field: "format_options.token", secret: "changed" },
      { field: "format_options.priority", before: "1", after: 0 },
    ],
    PHONE,
  ],
  [
    "what failures make inactive",
    { is_active: true },
    ["is_active"],
    [{ field: "is_active", before: false, after: true }],
    { ...LISTED, is_active: false, inactive_reason: "failing" },
  ],
];

it.each(CHANGED.map(([what, row, names, changes, listed]) => ({ what, row, names, changes, listed })))(
  "$what is a change if the service says so",
  ({ row, names, changes, listed = LISTED }) => {
    const { changed, problems } = planOf(row, listed);
    const [own] = ownWebhooks([listed], MONITORS);
    if (own === undefined) throw new Error("no webhook is listed");
    expect([changed, problems]).toMatchObject([[{ title: "a" }], []]);
    expect(describeChanges(row, own, names)).toMatchObject(changes);
  },
);

it("a change sends what it changes alone, with the ids of monitors", () => {
  const { changed } = planOf({ url: LISTED.url, headers: { A: "b" }, filter: { monitors: ["Mail"] }, is_active: true });
  const bodies = changed.map((one) => bodyOf(one, "shop", (name) => (name === "Mail" ? 2 : undefined)));
  expect(bodies).toEqual([{ headers: { A: "b" }, filter: { monitor_ids: [2] } }]);
});

it("a creation sends everything with its owner, and no filter as long as no monitor of it is there", () => {
  const row = { name: "b", url: LISTED.url, filter: { monitors: ["Mail", "New"] } };
  const plan = planWebhooks([row], { own: [], monitors: new Set(["Mail", "New"]), pruned: null });
  const [made] = plan.created;
  if (made === undefined) throw new Error("nothing is created");
  const base = { name: "b", url: LISTED.url, managed_by: "shop" };
  expect(bodyOf(made, "shop", () => undefined)).toEqual(base);
  expect(bodyOf(made, "shop", (name) => (name === "New" ? 3 : undefined))).toEqual({
    ...base,
    filter: { monitor_ids: [3] },
  });
});
