import { MantineProvider } from "@mantine/core";
import type { ReactElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Router } from "wouter";
import { Rates } from "./Rates";
import { Reasons } from "./Reasons";

/** The rows of a part as a person reads them, and where their links lead. */
function rows(part: ReactElement): string[] {
  const html = renderToStaticMarkup(
    <MantineProvider>
      <Router ssrPath="/">{part}</Router>
    </MantineProvider>,
  );
  return [...html.matchAll(/<tr[\s\S]*?<\/tr>/g)].map(([row]) =>
    [row.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ").trim(), row.match(/href="([^"]*)"/)?.[1]?.replaceAll("&amp;", "&")].filter(Boolean).join(" -> "),
  );
}

test("rates have their unit, and where their alarm rings", () => {
  const rates = {
    received_per_minute: 24_000,
    dead_lettered_per_minute: [
      { stream: "837", rise: 299, alarm_at: 300 },
      { stream: "ncpdp", rise: 1_300, alarm_at: 300 },
    ],
  };
  expect(rows(<Rates rates={rates} />)).toEqual([
    "Claims taken in 24,000 a minute",
    "More in quarantine: Medical and dental 299 a minute alarm from 300 a minute",
    "More in quarantine: Pharmacy 1,300 a minute rings: alarm from 300 a minute",
  ]);
});

test("an alarm that is off has no threshold, and what is not known is no 0", () => {
  expect(rows(<Rates rates={{ received_per_minute: 0, dead_lettered_per_minute: [{ stream: "837", rise: 7 }] }} />)).toEqual(["Claims taken in 0 a minute", "More in quarantine: Medical and dental 7 a minute"]);
  expect(rows(<Rates />)).toEqual([]);
});

test("every reason is there, with its records", () => {
  expect(rows(<Reasons by={{ FATAL_SYNTAX: 1_000, EXPIRED: 1 }} />)).toEqual([
    "Faulty form 1,000 -> /records?state=quarantined&reason=FATAL_SYNTAX",
    "Retries exhausted 0 -> /records?state=quarantined&reason=RETRIES_EXHAUSTED",
    "Rejected for its content 0 -> /records?state=quarantined&reason=SEMANTIC_REJECT",
    "Outcome unknown 0 -> /records?state=quarantined&reason=OUTCOME_UNKNOWN",
    "Overflow 0 -> /records?state=quarantined&reason=OVERFLOW",
    "Expired 1 -> /records?state=quarantined&reason=EXPIRED",
  ]);
});
