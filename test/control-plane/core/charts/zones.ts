import { openTimeZone, type TimeZone } from "#control-plane/core/time-zone.ts";

function open(name: string): TimeZone {
  const zone = openTimeZone(name);
  if (zone === null) throw new Error(`the runtime has no zone ${name}`);
  return zone;
}

/** Zones of tests: without and with changes of the clock, and one with half an hour. */
export const UTC = open("UTC");
export const BERLIN = open("Europe/Berlin");
export const KOLKATA = open("Asia/Kolkata");
