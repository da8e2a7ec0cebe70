import { describe, expect, it } from "vitest";
import { addressesToDial, countReplicas, linksToClose, readReplicas } from "#probe-agent/attachment/replicas.ts";

const a = { id: "a", address: "a:1" };
const b = { id: "b", address: "b:1" };
const hidden = { id: "h", address: "" };
const to = (address: string, replicaId: string | null, running = 0) => ({ address, replicaId, running });

describe("addresses to dial", () => {
  it.each([
    ["at first, every configured address", ["a:1", "b:1"], [], null, {}, ["a:1", "b:1"]],
    ["nothing twice while it is being dialled", ["a:1"], [to("a:1", null)], null, {}, []],
    ["the listed replica without a stream", ["a:1"], [to("a:1", "a")], [a, b], { "a:1": "a" }, ["b:1"]],
    ["nobody once all are reached", ["a:1"], [to("a:1", "a"), to("b:1", "b")], [a, b], { "a:1": "a" }, []],
    [
      "not a second address of a replica that has a stream",
      ["a:1", "x:1"],
      [to("a:1", "a")],
      [a],
      { "a:1": "a", "x:1": "a" },
      [],
    ],
    [
      "the second address once the replica behind it has no stream",
      ["a:1", "x:1"],
      [to("a:1", "a")],
      [a],
      { "a:1": "a", "x:1": "b" },
      ["x:1"],
    ],
    [
      "the balancer again while a replica without an address is missing",
      ["lb:1"],
      [to("lb:1", "a")],
      [{ id: "a", address: "" }, hidden],
      { "lb:1": "a" },
      ["lb:1"],
    ],
    [
      "the balancer not twice at once",
      ["lb:1"],
      [to("lb:1", "a"), to("lb:1", null)],
      [{ id: "a", address: "" }, hidden],
      { "lb:1": "a" },
      [],
    ],
    [
      "a configured address that is down, however many others stand",
      ["a:1", "b:1"],
      [to("a:1", "a")],
      [a],
      { "a:1": "a" },
      ["b:1"],
    ],
    ["everyone ever listed, when no stream stands", ["a:1"], [], [a, b], { "a:1": "a" }, ["a:1", "b:1"]],
    [
      "each address of a 1.0 hub, which lists nobody",
      ["a:1", "b:1"],
      [to("a:1", "a")],
      null,
      { "a:1": "a", "b:1": "b" },
      ["b:1"],
    ],
  ])("%s", (_why, configured, links, listed, ledTo, expected) => {
    expect(addressesToDial({ configured, links, listed, ledTo: new Map(Object.entries(ledTo)) })).toEqual(expected);
  });
});

describe("streams to close", () => {
  const close = (links: ReturnType<typeof to>[], listed: (typeof a)[] | null) =>
    linksToClose({ configured: [], links, listed, ledTo: new Map() }).map(({ address }) => address);

  it("closes the stream to a replica that is no longer listed once it has no job here", () => {
    expect(close([to("a:1", "a"), to("b:1", "b")], [a])).toEqual(["b:1"]);
    expect(close([to("a:1", "a"), to("b:1", "b", 1)], [a])).toEqual([]);
  });

  it("closes nothing because of an empty list, and no stream that is still dialling", () => {
    expect(close([to("a:1", "a")], null)).toEqual([]);
    expect(close([to("a:1", null)], [b])).toEqual([]);
  });
});

it("accepts only entries of a list that can be dialled", () => {
  const listed = [
    a,
    { id: "", address: "c:1" },
    { id: "d", address: "unix:/etc/passwd" },
    { id: "e", address: "[::1]:5" },
  ];
  expect(readReplicas(listed)).toEqual([a, { id: "d", address: "" }, { id: "e", address: "[::1]:5" }]);
  expect(readReplicas(Array.from({ length: 1_000 }, (_, n) => ({ id: `r${n}`, address: "" })))).toHaveLength(100);
});

describe("the count of replicas", () => {
  const count = (links: ReturnType<typeof to>[], listed: (typeof a)[] | null) =>
    countReplicas({ configured: [], links, listed, ledTo: new Map() });

  it("has those that are listed, by whether they have a stream", () => {
    expect(count([to("a:1", "a"), to("b:1", null)], [a, b])).toEqual({ reached: 1, missing: 1 });
  });

  it("has those that are attached if no replica sends a list, and none is missing", () => {
    expect(count([to("a:1", "a"), to("b:1", null)], null)).toEqual({ reached: 1, missing: 0 });
  });
});
