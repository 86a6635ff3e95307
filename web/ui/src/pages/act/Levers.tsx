import { Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { api, got } from "@/api/client";
import { useSession } from "@/app/session";
import { acts, levers, type Plan, type Progress } from "@/parts/acts";
import { ReasonDialog } from "@/parts/ReasonDialog";
import { useCommand } from "@/parts/useCommand";

type Verb = ReturnType<typeof levers>[number];

const words: Record<Verb, { verb: string; about: string; said: string; often: string[] }> = {
  pause: { verb: "Pause", about: "No more are done from now on. What is done stays done.", said: "Paused", often: ["Looking at the first ones", "The payer asked for it"] },
  resume: { verb: "Resume", about: "It goes on where it was, in your name.", said: "It goes on", often: ["The payer is back", "Looked at, as expected"] },
  cancel: { verb: "Cancel it for good", about: "What is not done is left alone; this act cannot go on again.", said: "Cancelled", often: ["Planned anew", "Not needed"] },
};

/** Pause, resume and cancel, as far as the act stands so. */
export function Levers({ plan, p, onProgress }: { plan: Plan; p: Progress; onProgress: (p: Progress) => void }) {
  const { may } = useSession();
  const { run } = useCommand();
  const [doing, setDoing] = useState<Verb | null>(null);
  if (!may(acts[plan.act].permission)) return null;
  return (
    <Group gap="xs">
      {levers(p).map((v) => (
        <Button key={v} size="compact-sm" variant={v === "resume" ? "filled" : v === "cancel" ? "subtle" : "default"} color={v === "cancel" ? "red" : undefined} onClick={() => setDoing(v)}>
          {v === "cancel" ? "Cancel" : words[v].verb}
        </Button>
      ))}
      {doing && (
        <ReasonDialog
          title={`${words[doing].verb}?`}
          verb={words[doing].verb}
          danger={doing === "cancel"}
          suggestions={words[doing].often}
          onClose={() => setDoing(null)}
          onConfirm={(reason) =>
            run(words[doing].said, async (key) => {
              const o = { params: { path: { id: plan.id }, header: { "Idempotency-Key": key } }, body: { reason } };
              onProgress(await got(doing === "pause" ? api.POST("/v1/acts/{id}/pause", o) : doing === "resume" ? api.POST("/v1/acts/{id}/resume", o) : api.POST("/v1/acts/{id}/cancel", o)));
            })
          }
        >
          <Text size="sm">{words[doing].about}</Text>
        </ReasonDialog>
      )}
    </Group>
  );
}
