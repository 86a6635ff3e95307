package payersim

// ScriptHelp describes the language of scripts, for people.
const ScriptHelp = `A script has one rule a line; # starts a comment.

  dedupe on|off             a claim that it has already: on rejects it (277CA A3:54), or for
                            pharmacy claims answers D, Q or S; off accepts and pays it again
                            and counts it. Default: off for 837, on for pharmacy claims
  guide on|off              judge what comes by the standard, or take all that can be read.
                            Default: on
  seed N                    decides what N% picks. Default: 1

  time 5s-15s down          no connections from 5 s to 15 s after the start
  time 5s-15s status 503 retry 2
  request WHICH reset       break the connection before reading
  request WHICH cut         break it after some of the body was read
  request WHICH drop        take what came, then break the connection
  request WHICH hang        take it, and say nothing until the sender gives up
  request WHICH late DURATION
                            take it, and answer so much later
  request WHICH latency DURATION
                            wait, and then take it
  request WHICH status CODE [retry SECONDS]

837:

  answer body|box|none      where acknowledgments go: into the HTTP answer, into the
                            box that GET /v1/acks empties (a folder payer: into its
                            folder), or nowhere. Default: body
  acks ta1,999,277ca        which there are. Default: all
  interchanges check|any    reject an interchange number seen before (TA1 R 025) or
                            take it again. Default: check
  interchange WHICH ta1 A|E|R NOTE
  interchange WHICH acks none|twice|unknown|late N|late DURATION
                            twice: again with the next interchange; unknown: also some
                            for numbers nobody sent; late N: N interchanges later
  set WHICH reject IK502    999 with IK5 R
  claim WHICH stc CATEGORY:STATUS[:ENTITY]
  claim cpt=CODE stc ...    also diag=CODE, clm01=VALUE, member=VALUE

Pharmacy claims (NCPDP):

  unmatched CODE            what a reversal of nothing is rejected with. Default: 84
  rebills on|off            take a B3, or reject it (1S). Default: on
  batches check|any         refuse a batch number seen before, or take it again.
                            Default: check
  canary on|off             marks in every free text and number of its own. Default: off
  time 5s-15s reject 92     the answer to every claim in that time
  claim WHICH pay|capture|defer
                            P, or D if it was paid before; C or Q; F
  claim WHICH reject CODE[,CODE...] [taken] [text WORDS]
                            taken: it is paid all the same, and only the answer says R
  claim WHICH status X      112-AN is X, whatever that means
  claim WHICH clash         P with a reject code beside it
  claim ndc=CODE ...        also rx=, member=, bin=, pcn=, pharmacy=, code=B2
  ... tries N               after any of them: only the first N times that a claim comes
  transmission WHICH reject [CODE[,CODE...]] [text WORDS]
                            501-F1 is R; nothing of it is taken
  transmission WHICH other A3|A9|B1|D1|D2
                            the answer names another transaction, count, pharmacy, day
                            or prescription than was asked
  transmission WHICH echo|html|cut|empty|framed
                            the request comes back; a web page; half a header; nothing;
                            an answer between STX and ETX

WHICH counts from 1 through the payer's life: 3, 4-10, */5 (each fifth), 10% or all.`
