"""A run's document and its key, as the page shows them."""

from fedperm.run_document import FrozenDocument
from fedperm.wire.statements import EpochRecord
from fedperm_aggregator.dashboard.views import Facts, Key


def facts(frozen: FrozenDocument) -> Facts:
    document = frozen.content
    plan, bound, rounds = document.plan, document.norm_bound, document.rounds
    costs = plan.layout.costs(workers=1)
    return Facts(
        run=document.run,
        document=frozen.sha256,
        task=document.task.name,
        parameters=document.model.parameters,
        k1=document.shuffle.k1,
        k2=document.shuffle.k2,
        windows=plan.geometry.windows,
        value_bits=document.value_bits,
        clip=document.noise.clip,
        norm_limit=None if bound is None else bound.limit,
        norm_form="" if bound is None else bound.form.value,
        rounds=rounds.count,
        clients_per_round=rounds.clients_per_round,
        min_contributors=rounds.min_contributors,
        deadline_seconds=rounds.deadline_seconds,
        key_bits=document.scheme.key_bits,
        mask_ciphertexts=costs.ciphertexts,
        aggregate_ciphertexts=costs.sums,
        insecure_for_tests=document.insecure_for_tests,
    )


def key_view(record: EpochRecord, signing_key: str) -> Key:
    return Key(
        scheme=record.scheme.name,
        name=record.key,
        bits=record.scheme.scheme(insecure_for_tests=True).key_bits,
        epoch=record.epoch,
        fingerprint=record.key_id,
        signing_key=signing_key,
    )
