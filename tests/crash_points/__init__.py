"""Every party is killed at every named moment of its life, in real processes, and started again.

A case is a crash point together with what happens afterwards: with a retry whoever got no answer
asks again, with the same bytes; without one nobody does.

Failure is: an acknowledged update that is not in the sum; an update that is in it twice; a second
body of one client for one round; an average that is applied twice; a token used twice; a key that
left without its line in the audit log; anything that was answered and is gone; and a party that
does not go on. No failure is: an update that was not acknowledged and is, or is not, in the sum.
"""
