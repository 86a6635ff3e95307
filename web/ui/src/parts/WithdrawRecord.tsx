import { api, etag, got, type Schemas } from "@/api/client";
import { SecondPerson } from "./SecondPerson";
import { many } from "./words";

type Rec = Schemas["Record"];

/** Writes a record off, which takes two people. */
export function WithdrawRecord({ r, onMoved }: { r: Rec; onMoved: (r: Rec) => void }) {
  return (
    <SecondPerson
      verb="Write off"
      about={`Record ${r.id} with ${many(r.claims, "claim")} is withdrawn for good; it can never be sent again.`}
      permission="record.withdraw"
      on={`RECORD:${r.id}`}
      danger
      suggestions={["Sent anew by the provider", "Paid outside", "Past the time to file"]}
      ask={(reason, key) => got(api.POST("/v1/records/{id}/withdraw:ask", { params: { path: { id: r.id }, header: { "Idempotency-Key": key, "If-Match": etag(r.revision) } }, body: { reason } }))}
      act={async (reason, approval, key) =>
        onMoved((await got(api.POST("/v1/records/{id}/withdraw", { params: { path: { id: r.id }, header: { "Idempotency-Key": key, "If-Match": etag(r.revision) } }, body: { reason, approval } }))).record)
      }
    />
  );
}
