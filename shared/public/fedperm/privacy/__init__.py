"""What a run costs in privacy.

events, accountant, registry        what happened, what is asked, the accountants by name
shuffled, unshuffled, paper_chain   the accountants
blanket, clones, lattice            the bounds that they compose
calibration                         from a budget to the noise
record_level                        the guarantee for one record, which needs no accountant
ledger                              the client's account, which stops the run
release, report, rendering          from a run's document to the printed report

Other packages import only what a module lists in `__all__`.
"""
