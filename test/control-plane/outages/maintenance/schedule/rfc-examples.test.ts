import { describe, expect, it } from "vitest";
import {
  firstStarts,
  scheduleAt,
  showLocal,
  zoneOf,
} from "#test/control-plane/outages/maintenance/schedule/schedules.ts";

/** The examples of RFC 5545, section 3.8.5.3, that repeat daily or more rarely: rule, first day, days that follow. */
const EXAMPLES: readonly (readonly [rule: string, start: string, days: string])[] = [
  ["FREQ=DAILY;COUNT=10", "1997-09-02", "1997-09: 2 3 4 5 6 7 8 9 10 11"],
  ["FREQ=DAILY;INTERVAL=10;COUNT=5", "1997-09-02", "1997-09: 2 12 22, 1997-10: 2 12"],
  ["FREQ=WEEKLY;COUNT=10", "1997-09-02", "1997-09: 2 9 16 23 30, 1997-10: 7 14 21 28, 1997-11: 4"],
  ["FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH", "1997-09-02", "1997-09: 2 4 9 11 16 18 23 25 30, 1997-10: 2"],
  [
    "FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;WKST=SU;BYDAY=MO,WE,FR",
    "1997-09-01",
    "1997-09: 1 3 5 15 17 19 29, 1997-10: 1 3 13 15 17 27 29 31, 1997-11: 10 12 14 24 26 28, 1997-12: 8 10 12 22",
  ],
  ["FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH", "1997-09-02", "1997-09: 2 4 16 18 30, 1997-10: 2 14 16"],
  ["FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "1997-08-05", "1997-08: 5 10 19 24"],
  ["FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "1997-08-05", "1997-08: 5 17 19 31"],
  [
    "FREQ=MONTHLY;COUNT=10;BYDAY=1FR",
    "1997-09-05",
    "1997-09: 5, 1997-10: 3, 1997-11: 7, 1997-12: 5, 1998-01: 2, 1998-02: 6, 1998-03: 6, 1998-04: 3, 1998-05: 1, 1998-06: 5",
  ],
  ["FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR", "1997-09-05", "1997-09: 5, 1997-10: 3, 1997-11: 7, 1997-12: 5"],
  [
    "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU",
    "1997-09-07",
    "1997-09: 7 28, 1997-11: 2 30, 1998-01: 4 25, 1998-03: 1 29, 1998-05: 3 31",
  ],
  [
    "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO",
    "1997-09-22",
    "1997-09: 22, 1997-10: 20, 1997-11: 17, 1997-12: 22, 1998-01: 19, 1998-02: 16",
  ],
  [
    "FREQ=MONTHLY;COUNT=6;BYMONTHDAY=-3",
    "1997-09-28",
    "1997-09: 28, 1997-10: 29, 1997-11: 28, 1997-12: 29, 1998-01: 29, 1998-02: 26",
  ],
  [
    "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15",
    "1997-09-02",
    "1997-09: 2 15, 1997-10: 2 15, 1997-11: 2 15, 1997-12: 2 15, 1998-01: 2 15",
  ],
  [
    "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1",
    "1997-09-30",
    "1997-09: 30, 1997-10: 1 31, 1997-11: 1 30, 1997-12: 1 31, 1998-01: 1 31, 1998-02: 1",
  ],
  [
    "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15",
    "1997-09-10",
    "1997-09: 10 11 12 13 14 15, 1999-03: 10 11 12 13",
  ],
  [
    "FREQ=MONTHLY;INTERVAL=2;COUNT=18;BYDAY=TU",
    "1997-09-02",
    "1997-09: 2 9 16 23 30, 1997-11: 4 11 18 25, 1998-01: 6 13 20 27, 1998-03: 3 10 17 24 31",
  ],
  [
    "FREQ=YEARLY;COUNT=10;BYMONTH=6,7",
    "1997-06-10",
    "1997-06: 10, 1997-07: 10, 1998-06: 10, 1998-07: 10, 1999-06: 10, 1999-07: 10, 2000-06: 10, 2000-07: 10, 2001-06: 10, 2001-07: 10",
  ],
  [
    "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3",
    "1997-03-10",
    "1997-03: 10, 1999-01: 10, 1999-02: 10, 1999-03: 10, 2001-01: 10, 2001-02: 10, 2001-03: 10, 2003-01: 10, 2003-02: 10, 2003-03: 10",
  ],
  [
    "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200",
    "1997-01-01",
    "1997-01: 1, 1997-04: 10, 1997-07: 19, 2000-01: 1, 2000-04: 9, 2000-07: 18, 2003-01: 1, 2003-04: 10, 2003-07: 19, 2006-01: 1",
  ],
  ["FREQ=YEARLY;COUNT=3;BYDAY=20MO", "1997-05-19", "1997-05: 19, 1998-05: 18, 1999-05: 17"],
  ["FREQ=YEARLY;COUNT=3;BYWEEKNO=20;BYDAY=MO", "1997-05-12", "1997-05: 12, 1998-05: 11, 1999-05: 17"],
  [
    "FREQ=YEARLY;COUNT=11;BYMONTH=3;BYDAY=TH",
    "1997-03-13",
    "1997-03: 13 20 27, 1998-03: 5 12 19 26, 1999-03: 4 11 18 25",
  ],
  [
    "FREQ=YEARLY;COUNT=26;BYDAY=TH;BYMONTH=6,7,8",
    "1997-06-05",
    "1997-06: 5 12 19 26, 1997-07: 3 10 17 24 31, 1997-08: 7 14 21 28, " +
      "1998-06: 4 11 18 25, 1998-07: 2 9 16 23 30, 1998-08: 6 13 20 27",
  ],
  [
    "FREQ=MONTHLY;COUNT=5;BYDAY=FR;BYMONTHDAY=13",
    "1997-09-02",
    "1998-02: 13, 1998-03: 13, 1998-11: 13, 1999-08: 13, 2000-10: 13",
  ],
  [
    "FREQ=MONTHLY;COUNT=10;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13",
    "1997-09-13",
    "1997-09: 13, 1997-10: 11, 1997-11: 8, 1997-12: 13, 1998-01: 10, 1998-02: 7, 1998-03: 7, 1998-04: 11, 1998-05: 9, 1998-06: 13",
  ],
  [
    "FREQ=YEARLY;INTERVAL=4;COUNT=3;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
    "1996-11-05",
    "1996-11: 5, 2000-11: 7, 2004-11: 2",
  ],
  ["FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", "1997-09-04", "1997-09: 4, 1997-10: 7, 1997-11: 6"],
  [
    "FREQ=MONTHLY;COUNT=7;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2",
    "1997-09-29",
    "1997-09: 29, 1997-10: 30, 1997-11: 27, 1997-12: 30, 1998-01: 29, 1998-02: 26, 1998-03: 30",
  ],
  ["FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", "2007-01-15", "2007-01: 15 30, 2007-02: 15, 2007-03: 15 30"],
];

function readDays(text: string): readonly string[] {
  return text.split(", ").flatMap((month) => {
    const [name = "", days = ""] = month.split(": ");
    return days.split(" ").map((day) => `${name}-${day.padStart(2, "0")}T09:00`);
  });
}

const newYork = zoneOf("America/New_York");
const startsOf = (rule: string, start: string, most = 200, days = 4_000) =>
  firstStarts(scheduleAt("America/New_York", `${start}T09:00`, rule), most, days).map((at) => showLocal(newYork, at));

describe("an example of RFC 5545", () => {
  it.each(EXAMPLES)("%s from %s is open on %s", (rule, start, days) => {
    expect(startsOf(rule, start)).toEqual(readDays(days));
  });

  it("ends daily at UNTIL", () => {
    const starts = startsOf("FREQ=DAILY;UNTIL=19971224T000000Z", "1997-09-02");
    expect([starts.length, starts.at(-1)]).toEqual([113, "1997-12-23T09:00"]);
  });

  it("ends weekly at UNTIL", () => {
    const starts = startsOf("FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH", "1997-09-02");
    expect([starts.length, starts.at(-1)]).toEqual([10, "1997-10-02T09:00"]);
  });

  it("is open every day in January for three years, written in two ways", () => {
    const yearly = "FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA";
    const starts = startsOf(yearly, "1998-01-01");
    expect([starts.length, starts[0], starts.at(-1)]).toEqual([93, "1998-01-01T09:00", "2000-01-31T09:00"]);
    expect(startsOf("FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1", "1998-01-01")).toEqual(starts);
  });

  it("is open every 20 minutes from 9:00 to 16:40", () => {
    const rule = "FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40";
    const starts = startsOf(rule, "1997-09-02", 25, 3);
    expect(starts.slice(0, 4)).toEqual(["09:00", "09:20", "09:40", "10:00"].map((time) => `1997-09-02T${time}`));
    expect(starts.slice(23)).toEqual(["1997-09-02T16:40", "1997-09-03T09:00"]);
  });

  it("goes on without end", () => {
    expect(startsOf("FREQ=DAILY;INTERVAL=2", "1997-09-02", 3, 9)).toEqual(readDays("1997-09: 2 4 6"));
    const biweekly = "1997-09: 2 16 30, 1997-10: 14 28, 1997-11: 11 25, 1997-12: 9 23, 1998-01: 6 20, 1998-02: 3 17";
    expect(startsOf("FREQ=WEEKLY;INTERVAL=2;WKST=SU", "1997-09-02", 13)).toEqual(readDays(biweekly));
  });
});
