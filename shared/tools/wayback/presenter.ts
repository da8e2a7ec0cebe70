import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { counted, date, distance, shortUrl } from "#shared/presentation/values.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { wayback as contract } from "#shared/tools/wayback/contract.ts";

type Wayback = ResultOf<typeof contract>;

/** wayback: how often a page was archived, since when, and its newest copy. */
export const wayback = definePresenter(contract, (data, now) => {
  const { archived, snapshots_total: total, first, closest, years } = data;
  const last = data.last ?? closest;
  return {
    verdict: "neutral",
    headline: headlineOf(data, now),
    facts: existing(
      fact("Snapshots", total ?? (archived ? "not counted" : null)),
      fact("Last", last === null ? null : date(last.timestamp, now)),
      fact("First", first === null ? null : date(first.timestamp, now)),
      fact("Status of the last", last?.code),
      fact("Last copy", last?.url),
      fact("First copy", first?.url),
      fact("All copies", archived ? data.calendar_url : null),
    ),
    tables: existing(
      table(
        "Snapshots by year",
        ["Year", "#Snapshots"],
        Object.entries(years).toSorted(([one], [other]) => other.localeCompare(one)),
      ),
    ),
  };
});

function headlineOf({ url, archived, snapshots_total: total, first, last, closest }: Wayback, now: Date): string {
  const page = shortUrl(url);
  if (!archived) return `${page} is not in the Internet Archive`;
  const newest = last ?? closest;
  const away = newest === null ? null : distance(newest.timestamp, now);
  const times = total === null ? "archived" : `archived ${counted(total, "time")}`;
  return [
    `${page}: ${times}${first === null ? "" : ` since ${first.timestamp.slice(0, 4)}`}`,
    ...(away === null ? [] : [`last ${away}`]),
  ].join(", ");
}
