
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k0_kernel_0(__global float* restrict stria_base_T2, const ulong stria_at_T2, __global const float* restrict stria_base_I, const ulong stria_at_I)
{
  __global float* restrict v_T2 = stria_base_T2 + stria_at_T2;
  __global const float* restrict v_I = stria_base_I + stria_at_I;
  const int v_point = (int)get_global_id(0);
  if (v_point < 260) {
    const int v_i2 = v_point % 26;
    const int v_i1 = v_point / 26;
    const int v_o = (v_i1 * 26) + v_i2;
    const float v_I_1 = v_I[v_o];
    const float v_T2_1 = native_log(v_I_1);
    v_T2[v_o] = v_T2_1;
  }
}

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k1_kernel_1_kernel_2(__global float* restrict stria_base_T3, const ulong stria_at_T3, __global const float* restrict stria_base_T2, const ulong stria_at_T2, __global const float* restrict stria_base_B, const ulong stria_at_B)
{
  __global float* restrict v_T3 = stria_base_T3 + stria_at_T3;
  __global const float* restrict v_T2 = stria_base_T2 + stria_at_T2;
  __global const float* restrict v_B = stria_base_B + stria_at_B;
  float v_T0;
  __local float v_T2_scratch[26] __attribute__((aligned(64)));
  __local float v_B_scratch[26] __attribute__((aligned(64)));
  __local float v_T0_sum_32[32] __attribute__((aligned(64)));
  __local float v_T0_sum_16[16] __attribute__((aligned(64)));
  __local float v_T0_sum_8[8] __attribute__((aligned(64)));
  __local float v_T0_sum_4[4] __attribute__((aligned(64)));
  __local float v_T0_sum_2[2] __attribute__((aligned(64)));
  __local float v_T0_sum[1] __attribute__((aligned(64)));
  const int v_x = (int)get_group_id(0);
  const int v_lane = (int)get_local_id(0);
  const int v_o = v_lane + (v_x * 26);
  const int v_part = v_lane % 16;
  const int v_part_1 = v_lane % 8;
  const int v_part_2 = v_lane % 4;
  const int v_part_3 = v_lane % 2;
  v_T0 = 0.0f;
  if (v_lane <= 25) {
    const float v_value = v_T2[v_o];
    v_T2_scratch[v_lane] = v_value;
    const float v_value_1 = v_B[v_o];
    v_B_scratch[v_lane] = v_value_1;
    const float v_T2_1 = v_T2_scratch[v_lane];
    const float v_B_1 = v_B_scratch[v_lane];
    const float v_sum = v_T0;
    const float v_sum_1 = mad(v_T2_1, v_B_1, v_sum);
    v_T0 = v_sum_1;
  }
  const float v_value_2 = v_T0;
  v_T0_sum_32[v_lane] = v_value_2;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (v_lane <= 15) {
    const float v_lower = v_T0_sum_32[v_part];
    const float v_upper = v_T0_sum_32[v_part + 16];
    const float v_sum_2 = v_lower + v_upper;
    v_T0_sum_16[v_part] = v_sum_2;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (v_lane <= 7) {
    const float v_lower_1 = v_T0_sum_16[v_part_1];
    const float v_upper_1 = v_T0_sum_16[v_part_1 + 8];
    const float v_sum_3 = v_lower_1 + v_upper_1;
    v_T0_sum_8[v_part_1] = v_sum_3;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (v_lane <= 3) {
    const float v_lower_2 = v_T0_sum_8[v_part_2];
    const float v_upper_2 = v_T0_sum_8[v_part_2 + 4];
    const float v_sum_4 = v_lower_2 + v_upper_2;
    v_T0_sum_4[v_part_2] = v_sum_4;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (v_lane <= 1) {
    const float v_lower_3 = v_T0_sum_4[v_part_3];
    const float v_upper_3 = v_T0_sum_4[v_part_3 + 2];
    const float v_sum_5 = v_lower_3 + v_upper_3;
    v_T0_sum_2[v_part_3] = v_sum_5;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((0 <= v_lane) && (v_lane <= 0)) {
    const float v_lower_4 = v_T0_sum_2[0];
    const float v_upper_4 = v_T0_sum_2[1];
    const float v_sum_6 = v_lower_4 + v_upper_4;
    v_T0_sum[0] = v_sum_6;
    const float v_T0_2 = v_T0_sum[0];
    const float v_T3_1 = -v_T0_2;
    v_T3[v_x] = v_T3_1;
  }
}
