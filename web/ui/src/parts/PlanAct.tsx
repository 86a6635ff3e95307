import { Text } from "@mantine/core";
import { useLocation } from "wouter";
import { api, got, type Schemas } from "@/api/client";
import { acts, type What } from "./acts";
import { ReasonDialog } from "./ReasonDialog";
import { useCommand } from "./useCommand";
import { count, many } from "./words";

/** Which records are meant: these, or what matches now. */
export type Which = { ids: number[] } | { filter: Schemas["WhichMatch"] };

interface Props {
  act: What;
  which: Which;
  /** How many there are, as far as it is known. */
  n?: number;
  onClose: () => void;
}

/** Freezes what is to be done to many, and goes to its page: what would become of them is said there, and nothing is done yet. */
export function PlanAct({ act, which, n, onClose }: Props) {
  const { run } = useCommand();
  const [, go] = useLocation();
  const w = acts[act];
  const them = "ids" in which ? many(which.ids.length, "record") : n === undefined ? "all that match" : `all ${count(n)} that match`;
  return (
    <ReasonDialog
      title={`${w.title}: ${them}`}
      verb="Plan it"
      suggestions={w.often}
      onClose={onClose}
      onConfirm={(reason) =>
        run("", async (key) => {
          const { plan } = await got(api.POST("/v1/acts", { params: { header: { "Idempotency-Key": key } }, body: { act, reason, ...which } }));
          go(`/acts/${plan.id}`, { state: { reason } });
        })
      }
    >
      <Text size="sm">{w.does}</Text>
      <Text size="sm">Exactly these records are frozen first, and counted; nothing is done before you say so. It goes on at the server whether somebody looks or not.</Text>
    </ReasonDialog>
  );
}
