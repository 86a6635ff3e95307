import { Text } from "@mantine/core";
import { api, got, type Schemas } from "@/api/client";
import { LookForm } from "@/parts/LookForm";

export interface Opened {
  view: Schemas["ClaimView"];
  reason: string;
}

const often = ["Correct a fault", "Payer asked about it", "Provider asked about it"];

export const openClaim = (id: number, reason: string) => got(api.POST("/v1/records/{id}/view", { params: { path: { id } }, body: { reason, limit: 2000 } }));

/** Asks why before a claim is opened; one reason stands for the look, the correction and the sealing. */
export function OpenForm({ id, onOpen }: { id: number; onOpen: (o: Opened) => void }) {
  return (
    <LookForm
      title="Why do you open it?"
      verb="Open the claim"
      description="It is in the audit log before anything is decrypted, and stands for the correction too. It must name no patient."
      often={often}
      refused={<Text size="sm">Your role does not look into claims. Analysts do.</Text>}
      onLook={async (reason) => onOpen({ view: await openClaim(id, reason), reason })}
    />
  );
}
