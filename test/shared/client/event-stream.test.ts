import { expect, it } from "vitest";
import { createEventReader } from "#shared/client/event-stream.ts";

const STREAM =
  ': open\n\nevent: probe\ndata: {"a": "é\\n"}\n\n: keep-alive\n\nid: 7\nevent: done\ndata: {"b": [1]}\n\ndata: x\n\n';
const EVENTS = [
  ["probe", { a: "é\n" }],
  ["done", { b: [1] }],
  ["message", null],
];

it.each([1, 2, 3, 7, 1_000])("a stream in pieces of %i characters has the same events", (size) => {
  const events: unknown[] = [];
  const read = createEventReader((event, data) => events.push([event, data]));
  for (let at = 0; at < STREAM.length; at += size) read(STREAM.slice(at, at + size));
  expect(events).toEqual(EVENTS);
});
