import { Badge } from "@mantine/core";
import { name } from "./words";

const colors: Record<string, string> = {
  queued: "blue",
  leased: "blue",
  submitted: "cyan",
  in_doubt: "orange",
  quarantined: "red",
  parked: "grape",
  settled: "green",
  withdrawn: "gray",
  planned: "gray",
  previewed: "gray",
  running: "blue",
  paused: "yellow",
  stopped: "red",
  cancelled: "gray",
  done: "green",
};

/** The state of a record or job: its name, never its colour alone. */
export function StateBadge({ state }: { state: string }) {
  return (
    <Badge variant="light" color={colors[state] ?? "gray"} tt="none" radius="sm" className="badge" miw="max-content">
      {name(state)}
    </Badge>
  );
}

export function ReasonBadge({ reason }: { reason?: string }) {
  if (!reason) return null;
  return (
    <Badge title={reason} variant="default" tt="none" radius="sm" className="badge">
      {name(reason)}
    </Badge>
  );
}
