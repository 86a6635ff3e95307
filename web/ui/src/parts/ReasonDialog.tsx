import { Button, Group, Modal, Stack } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { Failure } from "./Failure";
import { ReasonField } from "./ReasonField";

interface Props {
  title: string;
  /** What the button says: a verb. */
  verb: string;
  /** What will happen, before it does. */
  children?: ReactNode;
  /** Reasons that are often given; one click takes one. */
  suggestions?: string[];
  danger?: boolean;
  /** The reason is asked for, but may be left out. */
  optional?: boolean;
  onClose: () => void;
  /** Throws what went wrong; it is shown and the dialog stays. */
  onConfirm: (reason: string) => Promise<unknown>;
}

/** Asks why before something is done. The reason is in the audit log for good. */
export function ReasonDialog(p: Props) {
  const [reason, setReason] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      await p.onConfirm(reason.trim());
      p.onClose();
    } catch (x) {
      setError(x);
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={p.onClose} title={p.title} size="lg">
      <form onSubmit={(e) => void submit(e)}>
        <Stack>
          {p.children}
          <ReasonField value={reason} onChange={setReason} often={p.suggestions} required={!p.optional} />
          {error !== null && <Failure error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={p.onClose}>
              Cancel
            </Button>
            <Button type="submit" color={p.danger ? "red" : undefined} loading={busy} disabled={!p.optional && reason.trim() === ""}>
              {p.verb}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
